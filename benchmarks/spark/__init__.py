"""How does the work on Spark compare? The measurements of `python -m benchmarks.spark_bench`.

| room | answers |
|---|---|
| `documents` | on what is measured: cuts of the corpus, a gigabyte, a million |
| `session` | which Spark a measurement starts |
| `engines` | what is measured: Spark MLlib, Benzer on Spark, Benzer on this machine |
| `child` | one run in a fresh process |
| `processes` | how long a run and all its processes take, and how much memory |
| `events` | what Spark's own event log says: bytes shuffled and spilled, seconds by stage |
| `cells` | which runs are done already |
| `scores` | how good an answer is |
| `mllib`, `overhead`, `million` | the three measurements |
| `page` | how they are told |
"""
