"""Access keys in a file, sessions for the pages, and rate limits per client.

| module | contents |
|---|---|
| `keyring` | `Keyring`: the keys of a file, stored as hashes |
| `changing` | `add_key`, `remove_key`: changes of the file |
| `sessions` | `Sessions`: browsers that are logged in |
| `rates` | `Rates`: rate limits |

This package does not depend on HTTP; `guards.access` does.
"""

from __future__ import annotations

from benzer.service.keys.changing import add_key, remove_key
from benzer.service.keys.keyring import Key, Keyring, read_keys
from benzer.service.keys.rates import Rates
from benzer.service.keys.sessions import Sessions

__all__ = ["Key", "Keyring", "Rates", "Sessions", "add_key", "read_keys", "remove_key"]
