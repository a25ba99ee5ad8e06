"""Views: what a person reads about an answer, chosen once for the terminal, the report and the web pages.

Each module turns one kind of answer into small frozen objects with labels, formatted numbers and sentences. A view
takes a result of the library, or the same answer as JSON values, which is what the service sends to programs.

| module | answer |
|---|---|
| `counts` | the counts of a run |
| `recall` | the guaranteed and the measured recall |
| `alarms` | warnings about a result |
| `clusters` | clusters, their members and the links between them |
| `evidence` | the common content of two documents, side by side |
| `sides` | two documents of a run side by side, shortened to their differences |
| `figures` | charts of a run, each with a table |
| `outputs` | the outputs of a command, and its messages about rows |
| `inputs` | files of documents, and documents contained in others |
| `plans` | the bands and the method for a threshold |
| `quotations` | documents that contain or quote a text |
| `upkeep` | changes and copies of an index |
| `keys` | the keys of a service |
| `prices` | the estimated effect of each threshold |
| `tuning` | the charts and sentences of a threshold on a collection |
| `sources` | counts by source, and matches in older collections |
| `jobs` | a job of the service |
| `matches` | documents and matches of an index |
| `settings` | the settings of an index in words, and of a run as a list |
| `rerun` | commands and code that repeat a run |
| `tables` | tables, which a terminal lays out in columns |
| `charts` | SVG |
| `html` | renders templates to HTML |

A sentence with emphasized numbers is `Markup`; a terminal shows it with `striptags`.
"""
