"""How does a program use a service from afar? By a client whose indexes have the methods of `benzer.Index`.

| room | holds |
|---|---|
| `clients` | `Client`, `AsyncClient`: a service |
| `index` | `RemoteIndex`, `AsyncRemoteIndex`: one of its indexes |
| `jobs` | `DuplicatesJob`, `AsyncDuplicatesJob`: a search for duplicates that runs there |
| `methods` | how each call is written once, and there for programs that block and for those that await |
| `steps` | what a call asks for, as steps that somebody else takes |
| `connection` | who takes them |
| `retrying` | when a request is sent again |
| `adding`, `given`, `questions` | how documents, and questions, become requests |
| `wire`, `failures` | how answers become the library's own types, and its errors |

httpx and tenacity come with `pip install 'benzer[client]'`; they are asked for when a client is made.
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
