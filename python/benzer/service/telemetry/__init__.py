"""What the service records about its requests.

| module | contents |
|---|---|
| `trace` | facts about one request that guards and errors add for its log line |
| `logs` | the log on stderr |
| `metrics` | the metrics for Prometheus |
"""
