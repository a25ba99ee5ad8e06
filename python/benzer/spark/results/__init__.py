"""What came of a run on Spark, and how is it handed on?

| room | answers |
|---|---|
| `duplicates` | the result: `SparkDuplicates`, as little computed as was asked for |
| `tables` | which rows stand in its tables |
| `counting` | how many there are of everything |
| `applying` | which rows of a table stay, and is a removal still founded |
| `bitmaps` | which rows of a file go, as bits |
| `writing` | how the tables are written where the cluster writes |
| `choosing` | which documents come to the driver, for the page of a local run |
| `bringing` | how they come |
| `local` | what they tell there |
| `older` | what older collections say of documents |
| `recall` | how much of what is alike was found |
| `asking` | what a task does for that |
"""

from __future__ import annotations

from benzer.spark.results.applying import Applied
from benzer.spark.results.bitmaps import filter_file
from benzer.spark.results.duplicates import SparkDuplicates

__all__ = ["Applied", "SparkDuplicates", "filter_file"]
