"""How does the service run, what does it tell meanwhile, and how does it end?

| room | holds |
|---|---|
| `serving` | `serve`: the address, what is served, and their end |
| `server`, `connections` | the server; connections that bring no request |
| `addresses` | which addresses only this machine can reach |
| `logs`, `metrics`, `trace` | what is told of requests, to people and to Prometheus |
"""
