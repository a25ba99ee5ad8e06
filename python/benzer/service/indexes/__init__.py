"""The indexes that are served, and how many requests share one.

| module | contents |
|---|---|
| `catalog` | the indexes by name: opened, created, deleted |
| `homes` | where indexes created by request are stored: in a folder or on a Redis server |
| `making` | the settings needed to create one |
| `served` | `ServedIndex`: one index that many requests share |
| `together` | small queries that wait for each other and run in one call |
| `buckets` | how many documents share a bucket, counted once |
| `loading`, `written` | the process that loads large uploads, and its reports |
"""
