"""What a threshold would find is told by HTTP as the library tells it, with pairs that lie just about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import pytest

from benzer.bands import Bands
from benzer.comparison import compare
from benzer.document import Document
from benzer.fields import Schema, Text, ValueSet
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings
from benzer.planner import choose
from benzer.pricing import price
from benzer.service.questions import borders, tuning
from benzer.service.questions.borders import FLOORS, Borders, floor_of
from benzer.service.questions.tuning import Looked, corpus_from
from benzer.service.resources.tune import Curve, Tuned
from tests.corpora import collection
from tests.doors.service import refused, serving
from tests.doors.shell import answer as answer_of_cli
from tests.images import as_file, scene
from tests.reference.hashing import shingle_hashes
from tests.reference.similarity import jaccard, text_similarity
from tests.reference.text import Recipe

TEXTS = collection(seed=21, count=160)
WORDS = Schema()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexes of texts, of two fields, of pictures, and of nothing."""
    folder = tmp_path_factory.mktemp("tune")
    with Index.open(folder / "texts.benzer") as index:
        index.add(TEXTS)
    with Index.open(
        folder / "fields.benzer", IndexSettings(Schema(text=Text(weight=2), tags=ValueSet()))
    ) as index:
        index.add([
            Document(number, {"text": text, "tags": text.split()[:3] if number % 4 else None})
            for number, text in enumerate(list(TEXTS.values())[:60])
        ])  # fmt: skip
    with Index.open(folder / "photos.benzer", IndexSettings(Schema(photo=Image(), title=Text()))) as index:
        index.add([
            Document(number, {"photo": as_file(scene(number // 2), "JPEG", quality=quality), "title": "A"})
            for number, quality in enumerate([60, 90] * 3)
        ])  # fmt: skip
    Index.open(folder / "nothing.benzer").close()
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with serving(*sorted(folder.glob("*.benzer")), "--home", folder / "home") as (client, _):
        yield client


@pytest.fixture(scope="module")
def looked() -> Looked:
    return Looked.from_sample(len(TEXTS), [Document(name, text) for name, text in TEXTS.items()], WORDS)


def tune(client: httpx.Client, name: str = "texts", **asked: Any) -> Any:
    response = client.post(f"/v1/indexes/{name}/tune", json=asked)
    assert response.status_code == 200, response.text
    return response.json()


@cache
def similarities() -> list[float]:
    """Those of all pairs of texts that share something, ascending, by the plain sets."""
    sets = [set(shingle_hashes(text, Recipe())) for text in TEXTS.values()]
    return sorted(one for a, b in combinations(sets, 2) if a and b and (one := jaccard(a, b)) > 0)


# In general


@pytest.mark.parametrize("query", [
    {}, {"threshold": "0.5", "recall": "0.99"}, {"threshold": "0.7", "num_hashes": "64"}, {"bands": "20", "rows": "5"},
    {"rows": "4", "num_hashes": "128"}, {"threshold": "1"},
])  # fmt: skip
def test_the_curve_is_that_of_the_command(client: httpx.Client, query: dict[str, str]) -> None:
    response = client.get("/v1/tune", params=query)
    assert response.status_code == 200, response.text
    said = response.json()
    options = [word for name, value in query.items() for word in (f"--{name.replace('_', '-')}", value)]
    told = answer_of_cli("tune", *options)
    names = {"threshold": "threshold", "recall": "recall", "bands": "bands", "rows": "rows"}
    names |= {"num_hashes": "num_values", "probability": "probability_at_threshold"}
    assert {name: said[name] for name in names} == {name: told[there] for name, there in names.items()}
    assert said["curve"] == [[one["similarity"], one["probability"]] for one in told["curve"]]
    assert (said["cost"]["hashes"], said["cost"]["keys"]) == (said["bands"] * said["rows"], said["bands"])
    Curve.model_validate(said)


@pytest.mark.parametrize("asked, field", [
    ({"threshold": 0}, "query.threshold"), ({"threshold": 1.1}, "query.threshold"),
    ({"threshold": "nan"}, "query.threshold"),
    ({"recall": 1}, "query.recall"), ({"bands": 4}, None), ({"bands": 20, "rows": 20, "num_hashes": 128}, None),
    ({"threshold": 0.1, "num_hashes": 4}, None), ({"bands": 65_535, "rows": 2}, None),
    ({"thresholds": 0.5}, "query.thresholds"),
])  # fmt: skip
def test_what_chooses_no_bands_is_refused(
    client: httpx.Client, asked: dict[str, Any], field: str | None
) -> None:
    response = client.get("/v1/tune", params=asked)
    assert refused(response, 422)
    assert response.json()["error"]["field"] == field


# In an index


@pytest.mark.parametrize("threshold, recall", [(0.8, 0.95), (0.45, 0.9)])
def test_prices_and_plan_are_those_of_the_library(
    client: httpx.Client, threshold: float, recall: float
) -> None:
    said = tune(client, threshold=threshold, recall=recall, sample=100)
    prices = price(TEXTS, sorted({0.5, 0.6, 0.7, 0.8, 0.9, threshold}), recall=recall, documents=100)
    for ours, theirs in zip(said["prices"], json.loads(json.dumps(prices.to_dict()["prices"])), strict=True):
        assert ours == {**theirs, "seconds": pytest.approx(theirs["seconds"])}  # a mean, summed in any order
    for name in ("identical", "empty", "contents", "sampled"):
        assert said[name] == getattr(prices, name)
    assert (said["documents"], said["read"]) == (len(TEXTS), len(TEXTS))
    looked = Looked.from_sample(len(TEXTS), [Document(name, text) for name, text in TEXTS.items()], WORDS)
    assert said["plan"] == json.loads(
        json.dumps(choose(corpus_from(looked.documents, WORDS).corpus, WORDS, threshold, recall).to_dict())
    )
    bands = Bands.for_recall(threshold, recall)
    assert (said["tune"]["bands"], said["tune"]["rows"]) == (bands.bands, bands.rows)
    assert said["candidates"] == round(looked.spread.candidates(bands))
    Tuned.model_validate(said)


def test_the_histogram_is_that_of_the_sample_in_hundredths(client: httpx.Client, looked: Looked) -> None:
    said = tune(client)["histogram"]
    assert (len(said["edges"]), said["edges"][70]) == (101, 0.7)
    assert said["counts"] == [round(one, 3) for one in looked.spread.histogram(bins=100).tolist()]
    assert sum(said["counts"][50:]) == pytest.approx(looked.spread.pairs(0.5))


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.6, 0.85, 1.0])
def test_examples_are_the_pairs_nearest_to_the_threshold(client: httpx.Client, threshold: float) -> None:
    said = tune(client, threshold=threshold, examples=3)
    found = similarities()
    for side in ("above", "below"):
        for one in said[side]:
            left, right = (TEXTS[one[place]["id"]] for place in ("left", "right"))
            assert one["similarity"] == text_similarity(left, right, Recipe())
            assert (one["left"]["contents"], one["right"]["contents"]) == ({"text": left}, {"text": right})
            whole = one["evidence"]["text"]["whole"]
            assert ["".join(part["text"] for part in whole[place]) for place in "ab"] == [left, right]
    above, below = ([one["similarity"] for one in said[side]] for side in ("above", "below"))
    assert above == sorted(above)
    assert below == sorted(below, reverse=True)
    assert above[0] == min(one for one in found if one >= threshold)
    assert below[:1] == [one for one in found if one < threshold][-1:]


def test_another_recipe_is_that_of_an_index_made_by_it(client: httpx.Client, folder: Path) -> None:
    recipe = Text(unit="char", shingle_size=4)
    with Index.open(folder / "home" / "chars.benzer", IndexSettings(Schema(text=recipe))) as index:
        index.add(TEXTS)
    by_index = None
    with serving(folder / "home" / "chars.benzer") as (other, _):
        by_index = tune(other, "chars", threshold=0.5)
    (folder / "home" / "chars.benzer").unlink()
    by_fields = tune(client, threshold=0.5, fields={"text": {"type": "text", "unit": "char"}}, shingle_size=4)
    assert by_fields == by_index
    assert by_fields["above"][0]["similarity"] == text_similarity(
        *(TEXTS[by_fields["above"][0][side]["id"]] for side in ("left", "right")),
        Recipe("char", 4, punctuation="keep"),
    )
    assert tune(client, threshold=0.5, shingle_size=3) == tune(client, threshold=0.5)


def test_bands_may_be_named(client: httpx.Client) -> None:
    said = tune(client, bands=20, rows=3)
    assert said["tune"] == client.get("/v1/tune", params={"bands": 20, "rows": 3}).json()
    assert said["candidates"] > tune(client, bands=20, rows=6)["candidates"]


def test_several_fields_are_read_together_or_some_of_them(client: httpx.Client) -> None:
    said = tune(client, "fields", threshold=0.5)
    assert all(set(one["evidence"]) <= {"text", "tags"} for one in said["above"])
    assert any("tags" in one["evidence"] for one in said["above"])
    one = tune(client, "fields", threshold=0.5, fields={"tags": {"type": "values"}})
    assert {name for pair in one["above"] for name in pair["evidence"]} == {"tags"}
    assert {name for pair in one["above"] for name in pair["left"]["contents"]} == {"text", "tags"}


def test_pictures_are_judged_by_what_is_kept_of_them(client: httpx.Client, folder: Path) -> None:
    said = tune(client, "photos", threshold=0.3, examples=2)
    with Index.open(folder / "photos.benzer", mode="read") as index:
        for one in said["above"]:
            left, right = (index.get(one[side]["id"]) for side in ("left", "right"))
            assert left is not None
            assert right is not None
            assert one["similarity"] == compare(left, right, index.settings.schema).similarity >= 0.3
    assert {one["evidence"]["photo"] for one in said["above"]} == {None}
    assert said["above"][0]["left"]["contents"] == {"title": "A"}
    assert tune(client, "photos", fields={"title": {"type": "text"}})["contents"] == 1


def test_nothing_is_said_of_nothing(client: httpx.Client) -> None:
    said = tune(client, "nothing")
    assert (said["documents"], said["contents"], said["above"], said["below"]) == (0, 0, [], [])
    assert set(said["histogram"]["counts"]) == {0.0}
    assert [one["removed"] for one in said["prices"]] == [0] * 5
    Tuned.model_validate(said)


def test_what_was_said_is_kept_until_the_documents_change(client: httpx.Client) -> None:
    assert client.post("/v1/indexes", json={"name": "moving"}).status_code == 201
    put = "/v1/indexes/moving/documents"
    documents = [{"id": name, "fields": {"text": text}} for name, text in list(TEXTS.items())[:40]]
    assert client.post(put, json={"documents": documents}).status_code == 200
    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(lambda _: tune(client, "moving"), range(6))
    assert others == [first] * 5
    assert (
        client.put(f"{put}/d3", json={"fields": {"text": "something else altogether, and new"}}).status_code
        == 200
    )
    assert tune(client, "moving")["documents"] == 40
    assert tune(client, "moving") != first
    assert client.delete("/v1/indexes/moving").status_code == 204
    assert client.post("/v1/indexes", json={"name": "moving"}).status_code == 201
    assert tune(client, "moving")["documents"] == 0


@pytest.mark.parametrize("asked, field", [
    ({"threshold": 0}, "body.threshold"), ({"recall": 1}, "body.recall"), ({"sample": 0}, "body.sample"),
    ({"examples": 51}, "body.examples"), ({"shingle_size": 65}, "body.shingle_size"), ({"bands": 3}, None),
    ({"fields": {"title": {"type": "text"}}}, "body.fields.title"), ({"fields": {}}, "body.fields"),
    ({"fields": {"text": {"type": "values"}}}, "body.fields.text"), ({"shingles": 3}, "body.shingles"),
    ({"fields": {"text": {"type": "text", "shingle_size": 99}}}, "body.fields.text"),
])  # fmt: skip
def test_what_cannot_be_tuned_is_refused_by_its_place(
    client: httpx.Client, asked: dict[str, Any], field: str | None
) -> None:
    response = client.post("/v1/indexes/texts/tune", json=asked)
    assert refused(response, 422)
    assert response.json()["error"]["field"] == field


def test_what_cannot_be_read_by_another_recipe_is_refused(client: httpx.Client) -> None:
    other = client.post(
        "/v1/indexes/photos/tune", json={"fields": {"photo": {"type": "image", "method": "phash"}}}
    )
    assert refused(other, 422)
    assert refused(client.post("/v1/indexes/none/tune", json={}), 404)


# Pairs about a threshold


def test_all_that_is_alike_is_looked_at_in_a_small_collection(looked: Looked) -> None:
    pairs = looked.borders
    assert set(pairs.similarity.tolist()) == set(similarities())  # of several copies one stands for all
    assert (pairs.left < pairs.right).all()


def test_where_pairs_abound_some_are_drawn_for_all(looked: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = looked.spread.contents
    monkeypatch.setattr(borders, "MOST_PAIRS", 2 * looked.spread.pairs(0.4))
    monkeypatch.setattr(borders, "DRAWN_PAIRS", 30 * asked)
    floor = floor_of(looked.spread, WORDS, asked)
    assert FLOORS[0] < floor <= 0.4
    pairs = Borders.of(corpus_from(looked.documents, WORDS).corpus, WORDS, looked.spread)
    assert {one for one in pairs.similarity.tolist() if one >= floor} == {
        one for one in similarities() if one >= floor
    }
    assert 0 < (pairs.similarity < floor).sum() < (looked.borders.similarity < floor).sum()
    monkeypatch.setattr(borders, "MOST_SECONDS", 0.0)
    assert floor_of(looked.spread, WORDS, asked) == FLOORS[-1]


def test_a_document_stands_in_one_example_where_there_are_enough(looked: Looked) -> None:
    pairs = looked.borders
    for places in (pairs.above(0.5, 4), pairs.below(0.5, 4), pairs.above(0.7, 4), pairs.below(0.7, 4)):
        assert len({int(side[place]) for place in places for side in (pairs.left, pairs.right)}) == 8
    assert len(pairs.above(0.0, 10**6)) == len(pairs.similarity)
    assert (pairs.below(0.0, 5), pairs.above(0.5, 0)) == ([], [])


def test_a_forecast_is_for_all_documents_where_examples_are_of_a_part(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of the documents has a hundredth of the pairs: what a part of them loses says nothing of all."""
    monkeypatch.setattr(tuning, "MOST_DOCUMENTS", 50)
    with Index.open(folder / "texts.benzer", mode="read") as index:
        looked = Looked.from_sample(*documents_with(WORDS, *tuning.documents_for(index)))
    said = tuning.Sliders(0.6, 0.95, None, None, None, 2000, 5).answer(looked, lambda document: {})
    assert (said["documents"], said["read"]) == (160, 50)
    prices = price(TEXTS, sorted({0.5, 0.6, 0.7, 0.8, 0.9}))
    assert [(one["removed"], one["low"], one["high"]) for one in said["prices"]] == [
        (one.removed, one.low, one.high) for one in prices.prices
    ]
    assert (said["contents"], said["sampled"]) == (prices.contents, prices.sampled)
    assert said["confidence"] == 0.95


def documents_with(schema: Schema, held: int, sample: Any, whole: Any) -> tuple[int, Any, Schema, Any]:
    return held, sample, schema, whole


@pytest.mark.parametrize("bound, value", [("WHOLE_DOCUMENTS", 100), ("WHOLE_BYTES", 1000)])
def test_a_collection_that_is_not_read_whole_has_no_forecast(
    bound: str, value: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "MOST_DOCUMENTS", 50)
    monkeypatch.setattr(tuning, bound, value)
    with Index.open(folder / "texts.benzer", mode="read") as index:
        looked = Looked.from_sample(*documents_with(WORDS, *tuning.documents_for(index)))
    said = tuning.Sliders(0.6, 0.95, None, None, None, 2000, 5).answer(looked, lambda document: {})
    assert (said["documents"], said["read"], said["prices"]) == (160, 50, [])
    assert [said[name] for name in ("identical", "empty", "contents", "sampled", "confidence")] == [None] * 5
    assert len(said["above"]) == 5
    Tuned.model_validate(json.loads(json.dumps(said)))
