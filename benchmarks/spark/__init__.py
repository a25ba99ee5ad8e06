"""The measurements of `python -m benchmarks.spark_bench`.

| module | contents |
|---|---|
| `documents` | the data: parts of the corpus, a gigabyte, a million documents |
| `session` | the Spark session of a measurement |
| `engines` | the measured engines: Spark MLlib, Benzer on Spark, Benzer on this machine |
| `child` | one run in a fresh process |
| `processes` | time and memory of a run and all its processes |
| `events` | Spark's event log: bytes shuffled and spilled, seconds by stage |
| `cells` | stored runs |
| `scores` | scores of results |
| `mllib`, `overhead`, `million` | the three measurements |
| `page` | the generated sections of the page |
"""
