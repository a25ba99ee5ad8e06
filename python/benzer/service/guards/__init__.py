"""Guards: plain ASGI middleware between a connection and a route, in the order of `app.GUARDS`.

Each is created as `Guard(app, state)`, rejects some requests and passes the others on.
"""
