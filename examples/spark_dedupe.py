"""Find near-duplicates in a table with spark-submit: reads a table of documents and writes a table of evidence.

spark-submit --master local[2] examples/spark_dedupe.py documents.parquet evidence --id id --text text
"""

import argparse

from pyspark.sql import SparkSession

import benzer.spark
from benzer import Options


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", help="a table of documents, at any address that Spark reads")
    parser.add_argument("output", help="folder for the evidence as Parquet: one row per removed document")
    parser.add_argument(
        "--format", default="parquet", help="format of the input: parquet, json, csv, orc, delta ..."
    )
    parser.add_argument("--id", default="id", help="the column of ids, strings or integers")
    parser.add_argument("--text", default="text", help="the column of texts")
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--recall", type=float, default=0.95)
    parser.add_argument(
        "--keep",
        default="first",
        help="which document of a cluster to keep: first, last, longest, largest:COL ...",
    )
    parser.add_argument("--checkpoint", help="a folder for finished stages, to resume an interrupted run")
    return parser.parse_args()


def main() -> None:
    """Find the duplicates, and write the evidence for each removed document."""
    args = arguments()
    spark = SparkSession.builder.appName("near-duplicates").getOrCreate()
    documents = spark.read.format(args.format).option("header", True).load(args.input)
    result = benzer.spark.find_duplicates(
        documents,
        id=args.id,
        text=args.text,
        threshold=args.threshold,
        recall=args.recall,
        keep=args.keep,
        options=Options(checkpoint=args.checkpoint),
    )
    result.removed.write.mode("overwrite").parquet(args.output)
    counts = result.counts
    print(f"{counts['documents']} documents: {counts['kept']} kept, {counts['removed']} removed", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
