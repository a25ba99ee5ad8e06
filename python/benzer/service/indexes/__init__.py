"""Which indexes are served, where do they lie, and how do many requests share one?

| room | holds |
|---|---|
| `catalog` | the indexes by name: opened, made, deleted |
| `homes` | where those lie that are made by request: in a folder, or in a Redis server |
| `making` | what must be said to make one |
| `served` | `ServedIndex`: one index that many requests share |
| `together` | small questions that wait for each other, and are asked in one call |
| `buckets` | how many documents share a bucket, counted once |
"""
