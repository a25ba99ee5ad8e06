"""Clients of a Benzer service; their indexes have the methods of `benzer.Index`.

| module | contents |
|---|---|
| `clients` | `Client`, `AsyncClient`: a service |
| `index` | `RemoteIndex`, `AsyncRemoteIndex`: an index of a service |
| `jobs` | `DuplicatesJob`, `AsyncDuplicatesJob`: a search for duplicates in a service |
| `methods` | makes each coroutine available as a blocking method, too |
| `connection` | the I/O, blocking or asynchronous |
| `requests` | requests and responses |
| `retrying` | retries |
| `adding`, `given`, `questions` | documents and queries as requests |
| `wire`, `failures` | responses as types and errors of the library |

httpx and tenacity are installed by `pip install 'benzer[client]'`; they are imported when a client is created.
"""

from __future__ import annotations

from benzer.client.adding import Added
from benzer.client.clients import AsyncClient, Client
from benzer.client.index import AsyncRemoteIndex, RemoteIndex
from benzer.client.jobs import AsyncDuplicatesJob, ClusterRow, DuplicatesJob, JobStatus
from benzer.client.wire import FoundMatch

__all__ = [
    "Added",
    "AsyncClient",
    "AsyncDuplicatesJob",
    "AsyncRemoteIndex",
    "Client",
    "ClusterRow",
    "DuplicatesJob",
    "FoundMatch",
    "JobStatus",
    "RemoteIndex",
]
