"""Letters from one template fill large buckets: a run on Spark gives the pairs and removals of a local run."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import benzer
from benzer.spark import find_duplicates
from benzer.spark.session import from_arrow
from tests.properties.test_flooded_buckets import letters
from tests.spark.answers import local_answer, spark_answer


def test_letters_have_the_same_answer_on_spark(spark: Any) -> None:
    texts = letters(400, seed=6)
    expected = local_answer(benzer.find_duplicates(texts, options=benzer.Options(bucket_limit=50)))
    assert expected["counts"]["oversized_buckets"] > 0
    assert len(expected["removed"]) > 300
    df = from_arrow(spark, pa.table({"id": list(texts), "text": list(texts.values())})).repartition(3)
    found = spark_answer(find_duplicates(df, options=benzer.Options(bucket_limit=50)), df)
    for name, value in expected.items():
        assert found[name] == value, name
