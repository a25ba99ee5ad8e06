"""On real collections the pairs are those that were found by comparing all with all, elsewhere."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

import benzer
from tests.results import Id, Pairs, pairs_of

pytestmark = pytest.mark.shared_data

WORDS = benzer.Text(tokenizer="alnum", normalize="none", case="lower")
CHARACTERS = benzer.Text(unit="char", normalize="none", case="keep", punctuation="keep", whitespace="keep")
CERTAIN = 1 - 1e-7


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """The documents of a set."""
    with lzma.open(folder / name, "rt", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def truth(folder: Path, name: str, threshold: float) -> Pairs:
    """The published pairs at the threshold, with six decimals."""
    with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
        table = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    return {frozenset((a, b)): float(value) for a, b, value in table if float(value) >= threshold}


def rounded(pairs: Pairs) -> Pairs:
    """With six decimals."""
    return {pair: round(value, 6) for pair, value in pairs.items()}


def texts(folder: Path) -> dict[Id, str]:
    """The texts of a set by id."""
    return {row["id"]: row["text"] for row in rows(folder, "docs.jsonl.xz")}


@pytest.mark.parametrize("name", ["cora", "noisy_news", "dblp_acm", "debian_desc_multilingual"])
@pytest.mark.parametrize("kind, field", [("word3", WORDS), ("char5", CHARACTERS)], ids=["word3", "char5"])
def test_texts(name: str, kind: str, field: benzer.Text, shared_data: Path) -> None:
    folder, threshold = shared_data / name, 0.73
    result = benzer.find_duplicates(
        texts(folder), schema=benzer.Schema(text=field), threshold=threshold, recall=CERTAIN
    )
    expected = truth(folder, f"truth_jaccard_{kind}.tsv.gz", threshold)
    assert len(expected) > 100
    assert rounded(pairs_of(result.expanded_pairs())) == expected


def test_value_sets(shared_data: Path) -> None:
    folder, threshold = shared_data / "sets_debtags", 0.83
    documents = [(row["id"], {"set": row["set"]}) for row in rows(folder, "sets.jsonl.xz")]
    schema = benzer.Schema(set=benzer.ValueSet())
    result = benzer.find_duplicates(documents, schema=schema, threshold=threshold, recall=CERTAIN)
    assert rounded(pairs_of(result.expanded_pairs())) == truth(folder, "truth_jaccard.tsv.gz", threshold)


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9])
def test_the_promised_recall_is_kept(threshold: float, shared_data: Path) -> None:
    """Each pair is found with 0.95 or more, most with far more: the share of all lies clearly above."""
    folder = shared_data / "noisy_news"
    expected = truth(folder, "truth_jaccard_word3.tsv.gz", threshold)
    documents, schema = texts(folder), benzer.Schema(text=WORDS)
    found = 0
    for seed in range(8):
        result = benzer.find_duplicates(
            documents, schema=schema, threshold=threshold, options=benzer.Options(seed=seed)
        )
        got = rounded(pairs_of(result.expanded_pairs()))
        assert got == {pair: expected[pair] for pair in got}
        found += len(got)
    assert found >= 0.95 * 8 * len(expected)
