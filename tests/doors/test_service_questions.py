"""Questions over HTTP are answered as the library answers them, to the last digit; and each answer can be shown."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from benzer.comparison import compare
from benzer.document import Document
from benzer.evidence import find_passages
from benzer.fields import Schema, Text, ValueSet
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings, Match
from benzer.presets import preset
from benzer.service import explaining
from benzer.service.evidence import MOST_PASSAGES, MOST_WHOLE, ShownEvidence, as_json
from benzer.service.explaining import Allowance, Found, answer_of
from benzer.service.resources.candidates import Candidates
from benzer.service.resources.compare import Compared
from benzer.service.resources.nearest import Nearest
from benzer.service.resources.quotations import ContainmentAnswer, PassagesAnswer
from benzer.service.resources.similar import Answers, Matches
from tests.corpora import collection
from tests.doors.service import JSON, refused, serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER
from tests.pictures import as_file, scene
from tests.reference.similarity import jaccard, text_similarity
from tests.reference.text import Recipe

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexes that every test leaves as they are: of a text and values, of texts, of values, and of passages."""
    folder = tmp_path_factory.mktemp("questions")
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


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with serving(*sorted(folder.glob("*.benzer")), "--home", folder / "home") as (client, _):
        yield client


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


# What is similar


@pytest.mark.parametrize(
    "options", [{}, {"limit": 1}, {"threshold": 0.05}, {"threshold": 0.05, "limit": 3}, {"threshold": 1}]
)
@pytest.mark.parametrize("id", ["fox", "fox/again", 4711, "4711"])
def test_similar_to_a_document_is_what_the_index_says(
    client: httpx.Client, folder: Path, id: Any, options: dict[str, Any]
) -> None:
    answer = ask(client, "docs", "similar", id=id, **options)
    with opened(folder, "docs") as index:
        assert answer == {"matches": as_answered(index.find_similar(index.get(id), **options))}
    assert id not in [match["id"] for match in answer["matches"]]
    Matches.model_validate(answer)


@pytest.mark.parametrize("fields", [
    {"text": FOX, "tags": ["animal", 2]}, {"text": FOX}, {"tags": ["animal"]}, {"text": FOX, "tags": None},
    {"text": "", "tags": []}, {"text": "\ud800 the quick brown fox"},
])  # fmt: skip
def test_similar_to_fields_is_what_the_index_says(
    client: httpx.Client, folder: Path, fields: dict[str, Any]
) -> None:
    with opened(folder, "docs") as index:
        expected = as_answered(index.find_similar(fields, threshold=0.1))
    assert ask(client, "docs", "similar", fields=fields, threshold=0.1)["matches"] == expected


def test_only_some_fields_may_count(client: httpx.Client, folder: Path) -> None:
    answer = ask(client, "docs", "similar", id="fox", only=["tags"], threshold=0.1)
    with opened(folder, "docs") as index:
        fox = index.get("fox")
        assert fox is not None
        expected = as_answered(
            index.find_similar(Document("fox", {"tags": fox.fields["tags"]}), threshold=0.1)
        )
    assert answer["matches"] == expected
    assert {name for match in answer["matches"] for name in match["fields"]} == {"tags"}
    both = ask(client, "docs", "similar", id="fox", only=["text", "tags"], threshold=0.1)
    assert both == ask(client, "docs", "similar", id="fox", threshold=0.1)


def test_a_text_alone_is_the_one_field(client: httpx.Client, folder: Path) -> None:
    text = collection(seed=5, count=150)["d20"]
    with opened(folder, "texts") as index:
        expected = as_answered(index.find_similar(text))
    assert expected
    assert ask(client, "texts", "similar", text=text)["matches"] == expected


def test_a_batch_is_answered_as_its_questions_one_by_one(client: httpx.Client) -> None:
    questions = [
        {"id": "d3"},
        {"text": collection(seed=5, count=150)["d20"]},
        {"id": "d7", "only": ["text"]},
        {"text": ""},
    ]
    answer = ask(client, "texts", "similar/batch", questions=questions, limit=4, threshold=0.2)
    assert answer["answers"] == [
        ask(client, "texts", "similar", **one, limit=4, threshold=0.2) for one in questions
    ]
    assert ask(client, "texts", "similar/batch", questions=[]) == {"answers": []}
    Answers.model_validate(answer)


def test_similarities_are_those_of_the_plain_sets(client: httpx.Client) -> None:
    sets = value_sets(seed=6)
    keyed = [{(type(value), value) for value in values} for values in sets]
    for number in range(0, 60, 3):
        matches = ask(client, "sets", "similar", id=number, threshold=0, limit=100)["matches"]
        assert all(match["similarity"] == jaccard(keyed[number], keyed[match["id"]]) for match in matches)
        expected = {
            other for other in range(60) if other != number and jaccard(keyed[number], keyed[other]) >= 0.4
        }
        empty = {other for other in range(60) if not keyed[other]}
        assert expected - empty <= {match["id"] for match in matches}


def test_similarities_are_those_of_the_plain_shingles(client: httpx.Client) -> None:
    texts = collection(seed=5, count=150)
    met = 0
    for name in list(texts)[::3]:
        for match in ask(client, "texts", "similar", id=name, threshold=0, limit=100)["matches"]:
            assert match["similarity"] == text_similarity(texts[name], texts[match["id"]], Recipe())
            met += 1
    assert met > 50


# Other questions


@pytest.mark.parametrize("options", [{}, {"limit": 3}, {"threshold": 0.3}, {"recall": 1}])
def test_the_nearest_are_what_the_index_says(
    client: httpx.Client, folder: Path, options: dict[str, Any]
) -> None:
    answer = ask(client, "texts", "nearest", id="d11", **options)
    with opened(folder, "texts") as index:
        found = index.find_nearest(index.get("d11"), **options)
    promised = {name: getattr(found, name) for name in ("recall", "compared", "documents", "threshold")}
    assert answer == {"matches": as_answered(found), **promised}
    Nearest.model_validate(answer)


def test_candidates_are_what_the_index_says(client: httpx.Client, folder: Path) -> None:
    with opened(folder, "texts") as index:
        expected = [one._asdict() for one in index.find_candidates(index.get("d11"), limit=5)]
    answer = ask(client, "texts", "candidates", id="d11", limit=5)
    assert answer == {"candidates": expected}
    Candidates.model_validate(answer)


@pytest.mark.parametrize("question", ["containing", "contained"])
@pytest.mark.parametrize("options", [{}, {"threshold": 0.3, "limit": 2, "most": 5}])
def test_containments_are_what_the_index_says(
    client: httpx.Client, folder: Path, question: str, options: dict[str, Any]
) -> None:
    texts = list(collection(seed=7, count=40).values())
    text = (
        texts[3]
        if question == "containing"
        else f"{texts[3]} home about news {texts[9]} login and so on {texts[12]}"
    )
    with opened(folder, "quotes") as index:
        found = getattr(index, f"find_{question}")(text, **options)
    answer = ask(client, "quotes", question, text=text, **options)
    assert answer["matches"] == [{**one._asdict(), "fields": dict(one.fields)} for one in found]
    assert (answer["candidates"], answer["compared"], answer["short"]) == (
        found.candidates,
        found.compared,
        list(found.short),
    )
    ContainmentAnswer.model_validate(answer)


@pytest.mark.parametrize("options", [{}, {"least_words": 4, "limit": 3, "most": 7}])
def test_passages_are_what_the_index_says(
    client: httpx.Client, folder: Path, options: dict[str, Any]
) -> None:
    texts = [text for text in collection(seed=7, count=40).values() if len(text) > 80]
    text = f"He wrote: {texts[1][:200]} and then {texts[4][:300]}"
    with opened(folder, "quotes") as index:
        expected = index.find_passages(text, **options).to_dict()
    answer = ask(client, "quotes", "passages", text=text, **options)
    assert answer["matches"]
    assert answer == json.loads(json.dumps(expected))
    PassagesAnswer.model_validate(answer)


def test_what_was_seen_is_touched_and_what_was_not_is_evicted(client: httpx.Client) -> None:
    made = client.post("/v1/indexes", json={"name": "upkeep"})
    assert made.status_code == 201
    documents = [{"id": id, "fields": {"text": f"text {id}"}} for id in ("a", 7, "7", "late")]
    assert client.post("/v1/indexes/upkeep/documents", json={"documents": documents}).status_code == 200
    now = datetime.now(timezone.utc).timestamp()
    late = "2036-01-31T13:00:00+01:00"
    assert ask(client, "upkeep", "touch", ids=["late", 7, "nowhere"], seen_at=late) == {"held": 2}
    assert ask(client, "upkeep", "touch", ids=["a"]) == {"held": 1}
    assert ask(client, "upkeep", "touch", ids=["late"], seen_at=1000) == {"held": 1}  # earlier than is known
    seen = {id: client.get("/v1/indexes/upkeep/seen", params={"id": id}).json() for id in ("late", "a", "7")}
    assert seen["late"] == {"id": "late", "last_seen": "2036-01-31T12:00:00Z"}
    assert seen["7"]["id"] == "7"  # a text is taken for itself first
    assert abs(datetime.fromisoformat(seen["a"]["last_seen"].replace("Z", "+00:00")).timestamp() - now) < 120
    assert ask(client, "upkeep", "evict", unseen_since="2036-01-01T00:00:00Z") == {
        "removed": 2,
        "documents": 2,
    }
    assert refused(client.get("/v1/indexes/upkeep/seen", params={"id": "a"}), 404)
    assert client.get("/v1/indexes/upkeep/seen", params={"id": "7"}).json()["id"] == 7
    assert ask(client, "upkeep", "evict", unseen_since=1000) == {"removed": 0, "documents": 2}
    assert client.delete("/v1/indexes/upkeep").status_code == 204


# Comparison


def as_compared(a: Document, b: Document, *arguments: Any) -> dict[str, Any]:
    """A comparison of the library as it is answered."""
    found = compare(a, b, *arguments, evidence=True)
    names = ("similarity", "estimate", "containment_a", "containment_b", "shingles_a", "shingles_b", "shared")
    return {
        "similarity": found.similarity,
        "estimate": found.estimate,
        "fields": {
            name: {
                **{key: getattr(one, key) for key in names},
                "more_shared": 0,
                "evidence": as_json(one.evidence, a.fields[name], b.fields[name]),
            }
            for name, one in found.fields.items()
        },
    }


def test_two_texts_are_compared_as_the_library_does(client: httpx.Client) -> None:
    sides = {"a": {"text": FOX}, "b": {"text": FOX_AGAIN}}
    documents = Document("", FOX), Document("", FOX_AGAIN)
    asked: list[tuple[dict[str, Any], Schema]] = [
        ({}, Schema()),
        ({"preset": "ocr"}, preset("ocr").schema),
        ({"fields": {"text": {"type": "text", "shingle_size": 2}}}, Schema(text=Text(shingle_size=2))),
    ]
    for options, schema in asked:
        answer = client.post("/v1/compare", json={**sides, **options}).json()
        assert answer == json.loads(json.dumps(as_compared(*documents, schema)))
        Compared.model_validate(answer)


def test_documents_of_an_index_are_compared_by_its_settings(client: httpx.Client, folder: Path) -> None:
    given = {"text": FOX, "tags": ["animal", 1, "red"]}
    answer = client.post(
        "/v1/compare", json={"index": "docs", "a": {"id": "fox/again"}, "b": {"fields": given}}
    ).json()
    with opened(folder, "docs") as index:
        held, settings = index.get("fox/again"), index.settings
    assert held is not None
    assert answer == json.loads(
        json.dumps(as_compared(held, Document("", given), settings.schema, settings.minhash))
    )
    assert answer["fields"]["tags"]["evidence"]["shared"] == ["animal"]
    short = client.post(
        "/v1/compare", json={"a": {"text": FOX}, "b": {"text": FOX}, "evidence": False}
    ).json()
    assert short["fields"]["text"]["evidence"] is None


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
    assert shown["headline"] == "50 % of A stands in B, 50 % of B stands in A"


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
    found = Found(Document("", text), [match] * 3, held)
    monkeypatch.setattr(explaining, "MOST_READ", 2 * len(text))
    monkeypatch.setattr(explaining, "MOST_SHOWN", 3 * len(text))
    answer = answer_of(found, Schema(), lambda document: {}, contents=True, explains=True)
    assert [one["evidence"]["text"] is None for one in answer["matches"]] == [False, True, True]
    assert answer["unexplained"] == 2
    assert [one["contents"] is None for one in answer["matches"]] == [False, False, True]
    assert Allowance(0).grants(0)


# Pictures


@pytest.fixture(scope="module")
def photos(client: httpx.Client) -> list[bytes]:
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
    assert "goes into the body" in refused(beside, 422)
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


def test_questions_may_be_asked_by_who_may_only_read(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    base = "/v1/indexes/{index}/"
    asking = [
        "similar",
        "similar/batch",
        "nearest",
        "candidates",
        "containing",
        "contained",
        "passages",
        "tune",
    ]
    for path in ["/v1/compare", *(base + one for one in asking)]:
        assert paths[path]["post"]["x-benzer-scope"] == "read"
    assert all("x-benzer-scope" not in paths[base + one]["post"] for one in ("touch", "evict"))


def test_an_answer_is_of_one_state_while_documents_are_replaced(client: httpx.Client) -> None:
    """What is shown of a match is what was compared, whoever writes meanwhile."""
    from concurrent.futures import ThreadPoolExecutor

    texts = [f"{FOX} and number {number}" for number in range(2)]
    assert client.post("/v1/indexes", json={"name": "busy", "threshold": 0.1}).status_code == 201
    put = "/v1/indexes/busy/documents/one"
    assert client.put(put, json={"fields": {"text": texts[0]}}).status_code == 201
    similar = {text: text_similarity(FOX, text, Recipe()) for text in [*texts, OTHER]}

    def replace(number: int) -> None:
        assert client.put(put, json={"fields": {"text": [*texts, FOX][number % 3]}}).status_code == 200

    similar[FOX] = 1.0
    with ThreadPoolExecutor(1) as threads:
        writing = threads.map(replace, range(40))
        for _ in range(40):
            (match,) = ask(client, "busy", "similar", text=FOX, contents=True)["matches"]
            assert match["similarity"] == similar[match["contents"]["text"]]
        list(writing)
    assert client.delete("/v1/indexes/busy").status_code == 204
