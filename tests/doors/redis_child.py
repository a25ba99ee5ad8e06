"""What other processes do with an index in Redis (`test_redis_processes`): as `index_child`, at a URL."""

from __future__ import annotations

import sys

from tests.doors import index_child

if __name__ == "__main__":
    command, url, *numbers = sys.argv[1:]
    getattr(index_child, command)(url, *map(int, numbers))
