"""How the service is started, kept running and stopped.

| module | contents |
|---|---|
| `serving` | `serve`: the address, the indexes to serve, and shutdown |
| `server`, `connections` | the HTTP server; connections that send no request |
"""
