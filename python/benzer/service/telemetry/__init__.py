"""Records of requests: log lines and metrics.

| module | contents |
|---|---|
| `trace` | facts about one request that guards and errors add for its log line |
| `logs` | the log on stderr |
| `metrics` | the metrics for Prometheus |
"""
