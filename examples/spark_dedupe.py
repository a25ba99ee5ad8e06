"""Near-duplicates in a table, by spark-submit: a table of documents in, a table of evidence out.

spark-submit --master local[2] examples/spark_dedupe.py documents.parquet evidence --id id --text text
"""

import argparse

from pyspark.sql import SparkSession

import benzer.spark
from benzer import Options


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", help="a table of documents, in any place that Spark reads")
    parser.add_argument(
        "output", help="where the evidence goes, as Parquet: a row for each document that goes"
    )
    parser.add_argument(
        "--format", default="parquet", help="of the input: parquet, json, csv, orc, delta ..."
    )
    parser.add_argument("--id", default="id", help="the column of ids, strings or integers")
    parser.add_argument("--text", default="text", help="the column of texts")
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--recall", type=float, default=0.95)
    parser.add_argument(
        "--keep", default="first", help="which one stays: first, last, longest, largest:COL ..."
    )
    parser.add_argument("--checkpoint", help="a folder in which finished stages stay, to go on from there")
    return parser.parse_args()


def main() -> None:
    """Find the duplicates, and write why each document goes."""
    asked = arguments()
    spark = SparkSession.builder.appName("near-duplicates").getOrCreate()
    documents = spark.read.format(asked.format).option("header", True).load(asked.input)
    found = benzer.spark.find_duplicates(
        documents,
        id=asked.id,
        text=asked.text,
        threshold=asked.threshold,
        recall=asked.recall,
        keep=asked.keep,
        options=Options(checkpoint=asked.checkpoint),
    )
    found.removed.write.mode("overwrite").parquet(asked.output)
    counts = found.counts
    print(f"{counts['documents']} documents: {counts['kept']} stay, {counts['removed']} go", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
