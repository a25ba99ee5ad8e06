"""Indexes that questions over HTTP are asked about, and how they are asked."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from pathlib import Path
from typing import Any

import httpx

from benzer.document import Document
from benzer.fields import Schema, Text, ValueSet
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings
from tests.corpora import collection
from tests.doors.service import JSON
from tests.doors.shell import FOX, FOX_AGAIN, OTHER
from tests.images import as_file, scene

SCRIPTS = {
    "emoji": (
        "👩‍🚀 one two three four 🦊🦊 five six seven eight 👍🏽",
        "so 👩‍🚀 one two three four 🐻 five six seven eight 👍🏽 !",
    ),
    "han": (
        "春眠不覺曉處處聞啼鳥夜來風雨聲花落知多少",
        "他說:春眠不覺晓處處聞啼鳥夜來風雨聲花落知多少。",
    ),
    "combining": (
        "cafe\u0301 nai\u0308ve A\u030angstro\u0308m one two three four five",
        "café naïve Ångström one two three FOUR six",
    ),
    "surrogates beyond the first plane": (
        "𝔘𝔫𝔦 one two three four five 𠮷野家 six seven",
        "𝔘𝔫𝔦 one two three four 𠮷野家 six seven",
    ),
    "right to left": (
        "שלום one two three four five עולם six seven",
        "one שלום two three four five עולם six eight",
    ),
}  # fmt: skip


def made(folder: Path) -> Path:
    """A folder with indexes of a text and values, of texts, of values, and of passages."""
    with Index.open(
        folder / "docs.benzer", IndexSettings(Schema(text=Text(), tags=ValueSet()), threshold=0.4)
    ) as index:
        index.add([
            Document("fox", {"text": FOX, "tags": ["animal", 1]}),
            Document("fox/again", {"text": FOX_AGAIN, "tags": ["animal", 2]}),
            Document(4711, {"text": OTHER}),
            Document("4711", {"text": f"{OTHER} once more", "tags": ["animal"]}),
        ])  # fmt: skip
        index.add(
            [
                Document(f"{name} {side}", {"text": text})
                for name, both in SCRIPTS.items()
                for side, text in enumerate(both)
            ]
        )
    with Index.open(folder / "texts.benzer", IndexSettings(threshold=0.4)) as index:
        index.add(collection(seed=5, count=150))
    with Index.open(
        folder / "sets.benzer", IndexSettings(Schema(tags=ValueSet()), threshold=0.3, recall=0.999)
    ) as index:
        index.add([Document(number, {"tags": tags}) for number, tags in enumerate(value_sets(seed=6))])
    with Index.open(folder / "quotes.benzer", IndexSettings(passages=True)) as index:
        for number, text in enumerate(collection(seed=7, count=40).values()):
            index.add({f"page {number}": f"home about news {text} login and so on"})
    return folder


def value_sets(seed: int) -> list[list[Any]]:
    """Sets of texts and integers that overlap more or less."""
    choice = random.Random(seed)
    pool = [*range(12), *map(str, range(12)), "é", "東"]
    return [choice.sample(pool, choice.randint(0, 14)) for _ in range(60)]


def ask(client: httpx.Client, index: str, question: str, **body: Any) -> Any:
    """The answer to a question about an index, which may hold anything that JSON can escape."""
    path = f"/v1/indexes/{index}/{question}"
    response = client.post(path, content=json.dumps(body), headers=JSON)
    assert response.status_code == 200, response.text
    return response.json()


def opened(folder: Path, name: str) -> Index:
    return Index.open(folder / f"{name}.benzer", mode="read")


def as_answered(matches: Any) -> list[dict[str, Any]]:
    return [{"id": one.id, "similarity": one.similarity, "fields": dict(one.fields)} for one in matches]


def put_photos(client: httpx.Client) -> list[bytes]:
    """Files of two scenes, twice each; an index "photos" holds those of even numbers, one of them by its form."""
    files = [
        as_file(scene(seed), "PNG") if even else as_file(scene(seed), "JPEG", quality=92)
        for seed in (1, 2)
        for even in (1, 0)
    ]
    fields = Schema(photo=Image(), title=Text()).to_dict()
    assert (
        client.post("/v1/indexes", json={"name": "photos", "fields": fields, "threshold": 0.3}).status_code
        == 201
    )
    by_json = {"fields": {"photo": {"base64": b64encode(files[0]).decode()}, "title": "A scene by the sea"}}
    assert client.put("/v1/indexes/photos/documents/first", json=by_json).status_code == 201
    form = {"photo": ("two.png", files[2], "image/png"), "title": (None, "Another one")}
    assert client.put("/v1/indexes/photos/documents/second", files=form).status_code == 201
    return files
