"""The sample indexes that are served by default: documents from the package, and generated images."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benzer.document import Document
from benzer.fields import Image, Schema
from benzer.index import Index, IndexSettings
from benzer.service.pictures.thumbnails import thumbnails_beside
from benzer.service.uploads.taking import prepared

TEXTS, PICTURES = "demo", "pictures"
THRESHOLD = 0.5
"""Low enough to find different matches: other releases of a page, other wordings of a licence."""


@contextmanager
def demo_home() -> Iterator[str]:
    """A folder with sample indexes, created in a second or two and deleted at the end of the block."""
    with TemporaryDirectory(prefix="benzer-demo-") as folder:
        settings = IndexSettings(threshold=THRESHOLD, passages=True)
        with Index.open(Path(folder) / f"{TEXTS}.benzer", settings) as index:
            index.add(Document(row["id"], {"text": row["text"]}) for row in sample_rows())
        if find_spec("PIL") is not None:
            make_pictures(Path(folder) / f"{PICTURES}.benzer")
        yield folder


def sample_rows() -> Iterator[dict[str, Any]]:
    """The sample documents: `id`, `source`, `version`, `language`, `text`.

    >>> next(sample_rows())["id"]
    'django/howto/static-files/deployment@1.7.11'
    """
    packed = resources.files(__package__).joinpath("documents.jsonl.gz")
    with packed.open("rb") as stream, gzip.open(stream, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield json.loads(line)


def make_pictures(path: Path) -> None:
    """An index of images with their thumbnails."""
    from benzer.service.samples.pictures import variants

    schema = Schema(picture=Image())
    ready = prepared(schema, [Document(id, {"picture": data}) for id, data in variants()])
    thumbnails = thumbnails_beside(path)
    with Index.open(path, IndexSettings(schema, threshold=Image().threshold)) as index:
        thumbnails.put(ready.thumbnails)
        index.add(ready.documents)
    thumbnails.close()
