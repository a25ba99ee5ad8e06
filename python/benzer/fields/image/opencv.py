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
    """Import `cv2`; if it is missing, the error names the `pip install` command."""
    return require("cv2", extra=EXTRA, purpose="Local image features")


@dataclass
class OneThread:
    """Limits OpenCV to one thread while images are processed in several threads of this package.

    The number of its threads belongs to the whole process: the first user stores it, the last one restores it.
    """

    lock: Lock = field(default_factory=Lock)
    inside: int = 0
    before: int = 0

    @contextmanager
    def limited(self, cv2: Any) -> Iterator[None]:
        """Limit OpenCV to one thread in a `with` block."""
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
