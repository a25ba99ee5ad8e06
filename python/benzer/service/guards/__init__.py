"""What stands between a connection and a route? Guards: plain ASGI middleware, in the order of `app.GUARDS`.

Each is made as `Guard(app, state)`, refuses what it has to, and hands the rest on.
"""
