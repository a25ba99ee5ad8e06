"""Who may ask, and how much? Keys in a file, sessions for the pages, and a rate for each of those who ask.

| room | holds |
|---|---|
| `keyring` | `Keyring`: the keys of a file, of which it holds hashes only |
| `changing` | `add_key`, `remove_key`: how that file changes |
| `sessions` | `Sessions`: browsers that showed a key |
| `rates` | `Rates`: how soon each may ask again |

Nothing here knows HTTP; `guards.access` does.
"""

from __future__ import annotations

from benzer.service.keys.changing import add_key, remove_key
from benzer.service.keys.keyring import Key, Keyring, read_keys
from benzer.service.keys.rates import Rates
from benzer.service.keys.sessions import Sessions

__all__ = ["Key", "Keyring", "Rates", "Sessions", "add_key", "read_keys", "remove_key"]
