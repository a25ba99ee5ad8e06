"""Uses OpenCV without changing the settings of the process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from benzer.registry import require

EXTRA = "sift"


def opencv() -> Any:
    """The module `cv2`; without it, which `pip install` brings it."""
    return require("cv2", extra=EXTRA, purpose="Local image features")


@dataclass
class OneThread:
    """OpenCV without threads of its own, while pictures are spread over ours.

    The number of its threads belongs to the whole process: the first to enter keeps it, the last to leave
    restores it.
    """

    lock: Lock = field(default_factory=Lock)
    inside: int = 0
    before: int = 0

    @contextmanager
    def held(self, cv2: Any) -> Iterator[None]:
        """OpenCV uses one thread meanwhile."""
        with self.lock:
            if not self.inside:
                self.before = cv2.getNumThreads()
                cv2.setNumThreads(1)
            self.inside += 1
        try:
            yield
        finally:
            with self.lock:
                self.inside -= 1
                if not self.inside:
                    cv2.setNumThreads(self.before)


ONE_THREAD = OneThread()
