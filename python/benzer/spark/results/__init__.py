"""The result of a run on Spark.

A module imports only from those above it.

| module | contents |
|---|---|
| `base` | `ClusterTables`: what the stages left on the cluster, the tables of the result, and its counts |
| `applying`, `bitmaps` | application of removals to a table; removed rows of files as bitmaps |
| `writing` | tables and summary, written by the cluster |
| `choosing` | the documents that are collected on the driver for a report |
| `recall` | the measurement of recall, with its tasks |
| `local` | collected documents as a local result, with the counts of the whole run |
| `bringing` | the collection of these documents |
| `duplicates` | `SparkDuplicates`, the result of `benzer.spark.find_duplicates`, with its methods |
"""

from __future__ import annotations

from benzer.spark.results.applying import Applied
from benzer.spark.results.bitmaps import filter_file
from benzer.spark.results.duplicates import SparkDuplicates

__all__ = ["Applied", "SparkDuplicates", "filter_file"]
