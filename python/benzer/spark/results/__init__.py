"""The result of a run on Spark.

| module | contents |
|---|---|
| `duplicates` | `SparkDuplicates`, computed lazily |
| `tables` | the rows of its tables |
| `counting` | counts |
| `applying` | application of removals to a table |
| `bitmaps` | removed rows of files as bitmaps |
| `writing` | writing of tables by the cluster |
| `choosing` | the documents that are collected on the driver for a report |
| `bringing` | the collection of these documents |
| `local` | the local result on the driver |
| `older` | matches with older collections |
| `recall` | the measurement of recall |
| `asking` | the tasks of this measurement |
"""

from __future__ import annotations

from benzer.spark.results.applying import Applied
from benzer.spark.results.bitmaps import filter_file
from benzer.spark.results.duplicates import SparkDuplicates

__all__ = ["Applied", "SparkDuplicates", "filter_file"]
