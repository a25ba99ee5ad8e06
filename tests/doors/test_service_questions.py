"""Questions over HTTP are answered as the library answers them, to the last digit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from benzer.comparison import compare
from benzer.document import Document
from benzer.fields import Schema, Text
from benzer.presets import preset
from benzer.service.questions.evidence import as_json
from benzer.service.resources.candidates import Candidates
from benzer.service.resources.compare import Compared
from benzer.service.resources.nearest import Nearest
from benzer.service.resources.quotations import ContainmentAnswer, PassagesAnswer
from benzer.service.resources.similar import Answers, Matches
from tests.corpora import collection
from tests.doors.asking import as_answered, ask, made, opened, value_sets
from tests.doors.service import refused, serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER
from tests.reference.similarity import jaccard, text_similarity
from tests.reference.text import Recipe


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexes that every test leaves as they are."""
    return made(tmp_path_factory.mktemp("questions"))


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with serving(*sorted(folder.glob("*.benzer")), "--home", folder / "home") as (client, _):
        yield client


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
