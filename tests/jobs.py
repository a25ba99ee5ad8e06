"""What tests of jobs share: some documents, what is found in them, and a job's task run at once."""

from __future__ import annotations

import json
from typing import Any

from benzer.document import Document
from benzer.pipeline import find_duplicates
from benzer.results import Duplicates
from benzer.service.jobs.reading import Spool
from benzer.service.jobs.running import JobRequest, Search, unheard

TEXTS = {
    "a": "the quick brown fox jumps over the lazy dog in the evening sun",
    "b": "The quick brown fox jumps over the lazy dog, in the evening sun!",
    "c": "the quick brown fox jumps over the lazy dog in the evening rain",
    7: "a survey of methods for finding documents that resemble each other",
    "7": "a survey of methods for finding documents that resemble one another",
    "d": "nothing of the kind stands anywhere else in all of these texts",
}
ROWS = [{"id": id, "text": text} for id, text in TEXTS.items()]
RESULT = find_duplicates([Document(id, text) for id, text in TEXTS.items()], threshold=0.6)


def spooled(*rows: Any) -> Spool:
    spool = Spool()
    for row in rows:
        spool.write(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n")
    spool.complete()
    return spool


def search(asked: JobRequest, uploaded: Any = None, index: Any = None, against: Any = None) -> Duplicates:
    task = Search(asked, index, uploaded, against or {})
    try:
        return task.run(unheard).result
    finally:
        task.close()
