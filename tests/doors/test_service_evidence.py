"""What is answered can be shown: texts in stretches, pictures by small copies; and what cannot be asked says where."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benzer.document import Document
from benzer.evidence import find_passages
from benzer.fields import Schema, Text
from benzer.index import Index, Match
from benzer.service.questions import explaining
from benzer.service.questions.evidence import MOST_PASSAGES, MOST_WHOLE, ShownEvidence, as_json
from benzer.service.questions.explaining import Allowance, QueryMatches, answer_of
from benzer.service.resources.similar import Matches
from tests.corpora import collection
from tests.doors.asking import SCRIPTS, as_answered, ask, made, put_photos
from tests.doors.service import refused, serving
from tests.doors.shell import FOX


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexes that every test leaves as they are."""
    return made(tmp_path_factory.mktemp("questions"))


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with serving(*sorted(folder.glob("*.benzer")), "--home", folder / "home") as (client, _):
        yield client


@pytest.fixture(scope="module")
def photos(client: httpx.Client) -> list[bytes]:
    """Files of two scenes, twice each, of which an index "photos" holds the first and the third."""
    return put_photos(client)


# Evidence


def check_evidence(shown: dict[str, Any], a: str, b: str) -> None:
    """Places are those of equal text, and the stretches give back what they stand for."""
    ShownEvidence.model_validate(shown)
    for passage in shown["passages"]:
        for side, text in (("a", a), ("b", b)):
            start, end = passage[side]
            inside = [one["text"] for one in passage["views"][side] if one["kind"] in ("equal", "differs")]
            assert "".join(inside) == text[start:end]
            everything = "".join(one["text"] for one in passage["views"][side]).strip("…")
            assert everything in text
        equal = [
            "".join(one["text"] for one in passage["views"][side] if one["kind"] == "equal") for side in "ab"
        ]
        assert Text(shingle_size=1).tokens(equal[0]) == Text(shingle_size=1).tokens(equal[1])
    for side, text in (("a", a), ("b", b)):
        assert "".join(one["text"] for one in shown["whole"][side]) == text


@pytest.mark.parametrize("name", SCRIPTS)
def test_stretches_are_right_on_both_sides_in_every_script(
    client: httpx.Client, folder: Path, name: str
) -> None:
    a, b = SCRIPTS[name]
    answer = ask(client, "docs", "similar", id=f"{name} 0", threshold=0.01, evidence=True, contents=True)
    Matches.model_validate(answer)
    assert answer["asked"]["contents"] == {"text": a, "tags": None}
    (match,) = [one for one in answer["matches"] if one["id"] == f"{name} 1"]
    assert match["contents"] == {"text": b, "tags": None}
    shown = match["evidence"]["text"]
    assert shown["passages"]
    check_evidence(shown, a, b)
    expected = find_passages(Text(), a, b)
    assert [tuple(one["a"]) for one in shown["passages"]] == [one.a for one in expected.passages]
    assert (shown["coverage_a"], shown["shared_shingles"]) == (expected.coverage_a, expected.shared_shingles)
    assert (
        client.post("/v1/compare", json={"a": {"text": a}, "b": {"text": b}}).json()["fields"]["text"][
            "evidence"
        ]
        == shown
    )


def test_evidence_of_random_texts_is_of_equal_text(client: httpx.Client) -> None:
    texts = collection(seed=5, count=150)
    shown = 0
    for name in list(texts)[:60:4]:
        answer = ask(client, "texts", "similar", text=texts[name], threshold=0.2, evidence=True, limit=5)
        assert answer["unexplained"] == 0
        for match in answer["matches"]:
            check_evidence(match["evidence"]["text"], texts[name], texts[match["id"]])
            shown += len(match["evidence"]["text"]["passages"])
    assert shown > 20


def test_what_values_share_is_listed(client: httpx.Client) -> None:
    (first, *_) = ask(client, "docs", "similar", id="fox", evidence=True)["matches"]
    shown = first["evidence"]["tags"]
    assert (shown["unit"], shown["shared"], shown["passages"], shown["whole"]) == (
        "value",
        ["animal"],
        [],
        None,
    )
    assert shown["headline"] == "50 % of A appears in B, 50 % of B appears in A"


def test_evidence_is_as_long_as_its_bounds_and_says_what_it_left_out() -> None:
    choice = random.Random(3)
    runs = [" ".join(choice.choices([f"word{number}" for number in range(4000)], k=12)) for _ in range(60)]
    gaps = [" ".join(f"{side}{number}" for number in range(1, 90)) for side in "xy"]
    a, b = (f" {gap} ".join(runs) for gap in gaps)
    shown = as_json(find_passages(Text(), a, b), a, b)
    assert shown is not None
    assert (len(shown["passages"]), shown["more"]) == (MOST_PASSAGES, 60 - MOST_PASSAGES)
    assert shown["whole"] is not None
    same = "one two three four five " * (MOST_WHOLE // 40)
    long = as_json(find_passages(Text(), same, same), same, same)
    assert long is not None
    assert long["whole"] is None
    kinds = [one["kind"] for one in long["passages"][0]["views"]["a"]]
    assert kinds[:3] == ["equal", "cut", "equal"]
    assert len(json.dumps(long)) < 40_000
    other = same.replace("three", "drei")
    many = as_json(find_passages(Text(), same, other), same, other)
    assert many is not None
    (passage,) = many["passages"][:1]
    assert (len(passage["differences"]), passage["more_differences"]) == (200, MOST_WHOLE // 40 - 200)


def test_matches_are_explained_and_shown_as_far_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "one two three four five six"
    match = Match("a", 1.0, {"text": 1.0})
    held = [Document(name, text) for name in "abc"]
    found = QueryMatches(Document("", text), [match] * 3, held)
    monkeypatch.setattr(explaining, "MOST_READ", 2 * len(text))
    monkeypatch.setattr(explaining, "MOST_SHOWN", 3 * len(text))
    answer = answer_of(found, Schema(), lambda document: {}, contents=True, explains=True)
    assert [one["evidence"]["text"] is None for one in answer["matches"]] == [False, True, True]
    assert answer["unexplained"] == 2
    assert [one["contents"] is None for one in answer["matches"]] == [False, False, True]
    assert Allowance(0).grants(0)


# Pictures


def test_pictures_are_asked_for_by_a_file_by_json_and_by_id(
    client: httpx.Client, photos: list[bytes], folder: Path
) -> None:
    with Index.open(folder / "home" / "photos.benzer", mode="read") as index:
        expected = as_answered(index.find_similar({"photo": photos[1]}, threshold=0.05))
    assert expected[0]["id"] == "first"
    assert expected[0]["similarity"] > 0.3
    by_json = ask(
        client,
        "photos",
        "similar",
        fields={"photo": {"base64": b64encode(photos[1]).decode()}},
        threshold=0.05,
    )
    by_form = client.post(
        "/v1/indexes/photos/similar", files={"photo": ("x.jpg", photos[1])}, params={"threshold": 0.05}
    )
    assert (by_form.json()["matches"], by_json["matches"]) == (expected, expected)
    nearest = client.post(
        "/v1/indexes/photos/nearest", files={"photo": ("x.jpg", photos[3])}, params={"recall": 1, "limit": 1}
    )
    assert [one["id"] for one in nearest.json()["matches"]] == ["second"]


def test_pictures_are_shown_by_their_small_copies_and_explained_by_nothing(
    client: httpx.Client, photos: list[bytes]
) -> None:
    form = {"photo": ("x.jpg", photos[1]), "title": (None, "A scene by the lake")}
    options = {"evidence": "true", "contents": "true", "threshold": "0.01", "only": ["photo", "title"]}
    answer = client.post("/v1/indexes/photos/similar", files=form, params=options).json()
    Matches.model_validate(answer)
    first = answer["matches"][0]
    assert (first["id"], first["contents"]) == ("first", {"title": "A scene by the sea"})
    assert first["evidence"]["photo"] is None
    check_evidence(first["evidence"]["title"], "A scene by the lake", "A scene by the sea")
    copy = client.get(first["thumbnails"]["photo"])
    assert (copy.status_code, copy.headers["content-type"].split("/")[0]) == (200, "image")
    assert answer["asked"] == {"contents": {"title": "A scene by the lake"}, "thumbnails": {}}
    by_id = ask(client, "photos", "similar", id="first", evidence=True, threshold=0)
    assert list(by_id["asked"]["thumbnails"]) == ["photo"]
    pair = client.post(
        "/v1/compare", json={"index": "photos", "a": {"id": "first"}, "b": {"id": "second"}}
    ).json()
    assert pair["fields"]["photo"]["evidence"] is None


# What is refused

TEXT = {"text": FOX}
REFUSED: list[tuple[str, dict[str, Any], int, str | None]] = [
    ("docs/similar", {}, 422, "body"),
    ("docs/similar", {"id": "fox", "fields": TEXT}, 422, "body"),
    ("docs/similar", {"id": "nobody"}, 404, "body.id"),
    ("docs/similar", {"id": True}, 422, "body.id"),
    ("docs/similar", {"id": "fox", "limit": 0}, 422, "body.limit"),
    ("docs/similar", {"id": "fox", "limit": True}, 422, "body.limit"),
    ("docs/similar", {"id": "fox", "limit": 1001}, 422, "body.limit"),
    ("docs/similar", {"id": "fox", "limit": 101, "evidence": True}, 422, "body.limit"),
    ("docs/similar", {"id": "fox", "threshold": 1.5}, 422, "body.threshold"),
    ("docs/similar", {"id": "fox", "thresholds": 0.5}, 422, "body.thresholds"),
    ("docs/similar", {"id": "fox", "only": ["title"]}, 422, "body.only"),
    ("docs/similar", {"id": "fox", "only": []}, 422, "body.only"),
    ("docs/similar", {"text": FOX}, 422, "body.text"),
    ("docs/similar", {"fields": {}}, 422, "body.fields"),
    ("docs/similar", {"fields": {"title": FOX}}, 422, "body.fields"),
    ("docs/similar", {"fields": {"tags": FOX}}, 422, "body.fields.tags"),
    ("docs/similar", {"fields": {"text": ["a"]}}, 422, "body.fields.text"),
    ("photos/similar", {"fields": {"photo": "/etc/hostname"}}, 422, "body.fields.photo"),
    ("photos/similar", {"text": "/etc/hostname"}, 422, "body.text"),
    ("texts/similar", {"text": "a" * 4_000_001}, 422, "body.text"),
    ("nothing/similar", {"text": FOX}, 404, None),
    ("texts/similar/batch", {"questions": [{"id": "d1"}, {"id": 1}]}, 404, "body.questions.1.id"),
    ("texts/similar/batch", {"questions": [{"id": "d1", "limit": 1}]}, 422, "body.questions.0.limit"),
    ("texts/similar/batch", {"questions": [{"text": ""}] * 10_001}, 413, "body.questions"),
    ("texts/nearest", {"id": "d1", "recall": 0}, 422, "body.recall"),
    ("texts/containing", {"id": "d1"}, 422, None),
    ("quotes/containing", {"text": FOX, "threshold": 0}, 422, "body.threshold"),
    ("quotes/passages", {"text": FOX, "least_words": 0}, 422, "body.least_words"),
    ("docs/touch", {"ids": ["fox"], "seen_at": "2026-01-31"}, 422, "body.seen_at"),
    ("docs/touch", {"ids": ["fox"], "seen_at": True}, 422, "body.seen_at"),
    ("docs/touch", {"ids": "fox"}, 422, "body.ids"),
    ("docs/evict", {}, 422, "body.unseen_since"),
    ("docs/evict", {"unseen_since": None}, 422, "body.unseen_since"),
    ("docs/evict", {"unseen_since": 1e300}, 422, "body.unseen_since"),
]


@pytest.mark.usefixtures("photos")
@pytest.mark.parametrize("route, body, status, field", REFUSED)
def test_what_cannot_be_asked_is_refused_by_its_place(
    client: httpx.Client, route: str, body: dict[str, Any], status: int, field: str | None
) -> None:
    response = client.post(f"/v1/indexes/{route}", json=body)
    assert refused(response, status)
    assert response.json()["error"]["field"] == field


SIDES = {"a": TEXT, "b": TEXT}


@pytest.mark.parametrize("body, status, field", [
    ({"a": TEXT}, 422, "body.b"),
    ({**SIDES, "a": {"id": "fox"}}, 422, "body.a.id"),
    ({"index": "docs", "a": {"id": "fox"}, "b": {"id": "nobody"}}, 404, "body.b.id"),
    ({**SIDES, "index": "nothing"}, 404, "body.index"),
    ({**SIDES, "index": "docs", "preset": "ocr"}, 422, "body.preset"),
    ({**SIDES, "preset": "ocr", "fields": {"text": {"type": "text"}}}, 422, "body.preset"),
    ({**SIDES, "fields": {"text": {"type": "text", "shingle_size": 0}}}, 422, "body.fields.text"),
    ({**SIDES, "fields": {"text": {"unit": "word"}}}, 422, "body.fields.text"),
    ({**SIDES, "fields": {"text": {"type": "text", "unit": []}}}, 422, "body.fields.text"),
    ({**SIDES, "fields": {}}, 422, "body.fields"),
    ({**SIDES, "preset": "books"}, 422, "body.preset"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused_by_its_place(
    client: httpx.Client, body: dict[str, Any], status: int, field: str | None
) -> None:
    response = client.post("/v1/compare", json=body)
    assert refused(response, status)
    assert response.json()["error"]["field"] == field


def test_options_stand_where_they_are_read(client: httpx.Client, photos: list[bytes]) -> None:
    beside = client.post("/v1/indexes/texts/similar", json={"id": "d1"}, params={"limit": 3})
    assert "move it to the body" in refused(beside, 422)
    unknown = client.post(
        "/v1/indexes/photos/similar", files={"photo": ("x", photos[0])}, params={"limits": 3}
    )
    assert refused(unknown, 422)
    wrong = client.post(
        "/v1/indexes/photos/similar", files={"photo": ("x", photos[0])}, params={"limit": "many"}
    )
    assert refused(wrong, 422)
    assert wrong.json()["error"]["field"] == "query.limit"
    broken = client.post("/v1/indexes/photos/similar", files={"photo": ("x", b"no picture")})
    assert refused(broken, 422)
