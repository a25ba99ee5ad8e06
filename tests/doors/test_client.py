"""A client asks a service as it would ask an index of its own: the same methods, and the same answers."""

from __future__ import annotations

import asyncio
import doctest
import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import benzer
from benzer import AsyncClient, Client, Document, Index, IndexSettings, Schema, Text, ValueSet
from benzer.client import FoundMatch
from benzer.errors import (
    AccessError,
    BenzerError,
    InputError,
    MalformedRowError,
    NotFoundError,
    ServiceError,
    SettingsError,
)
from benzer.fields import Image
from benzer.service.keys import add_key
from benzer.sources import MalformedRow
from tests.doors.service import serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER
from tests.images import as_file, scene

SCHEMA = Schema(text=Text(), tags=ValueSet())
SETTINGS = IndexSettings(SCHEMA, threshold=0.5, passages=True)
PAGE = f"home about news {FOX} login imprint"
DOCUMENTS = [
    Document("fox", {"text": FOX, "tags": ["animal", 1]}),
    Document("fox/again", {"text": FOX_AGAIN, "tags": ["animal", 2]}),
    Document(7, {"text": OTHER}),
    Document("7", {"text": OTHER + " and more of it", "tags": []}),
    Document("page", {"text": PAGE, "tags": None}),
    Document("naïve 東京 🦊", {"text": "naïve Ærø 東京 🦊 and four more words", "tags": ["é"]}),
]
LONG_AGO = datetime(2020, 1, 1, tzinfo=timezone.utc)


class Service(NamedTuple):
    """A running service with keys, and the same documents in an index of this process."""

    url: str
    key: str
    reader: str
    local: Index

    def client(self, **options: Any) -> Client:
        return Client(self.url, self.key, **options)

    def awaited(self, work: Callable[[AsyncClient], Awaitable[Any]]) -> Any:
        """The result of some work with an asynchronous client."""

        async def run() -> Any:
            async with AsyncClient(self.url, self.key) as client:
                return await work(client)

        return asyncio.run(run())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("client")
    (folder / "home").mkdir()
    with Index.open(folder / "home" / "docs.benzer", SETTINGS) as index:
        index.add(DOCUMENTS, seen_at=LONG_AGO)
    keys = folder / "service.keys"
    writer, reader = add_key(keys, "writer", "write")[1], add_key(keys, "reader")[1]
    with (
        Index.open(folder / "home" / "docs.benzer", mode="read") as local,
        serving("--home", folder / "home", "--keys", keys) as (client, _),
    ):
        yield Service(str(client.base_url), writer, reader, local)


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    with service.client() as client:
        yield client


@pytest.fixture
def made(client: Client) -> Iterator[benzer.client.RemoteIndex]:
    """An empty index of the same settings, which goes when the test ends."""
    index = client.create_index("made", SETTINGS)
    yield index
    client.delete_index("made")


ASKED = {"text": FOX, "tags": ["animal", 3]}
CALLS: dict[str, Callable[[Any], Any]] = {
    "similar": lambda index: index.find_similar(ASKED),
    "similar by some fields": lambda index: index.find_similar({"text": FOX_AGAIN}, limit=1, threshold=0.2),
    "similar to a document": lambda index: index.find_similar(DOCUMENTS[0], limit=2, threshold=0.0),
    "all that are similar": lambda index: index.find_similar(ASKED, limit=None, threshold=0.0),
    "similar to UTF-8": lambda index: index.find_similar({"text": FOX.encode()}),
    "similar to a set": lambda index: index.find_similar({"tags": {"animal", 2}}, threshold=0.3),
    "similar to an array": lambda index: index.find_similar({"tags": np.array(["animal", "x"])}, threshold=0.1),
    "nothing similar": lambda index: index.find_similar({"text": "none of it"}),
    "a batch": lambda index: index.find_similar_batch([ASKED, DOCUMENTS[1], {"text": OTHER}], limit=3),
    "an empty batch": lambda index: index.find_similar_batch([]),
    "a long batch": lambda index: index.find_similar_batch((ASKED for _ in range(450)), limit=1),
    "nearest": lambda index: index.find_nearest({"text": "a survey of the lazy dog"}, recall=1),
    "nearest from": lambda index: index.find_nearest(ASKED, limit=2, threshold=0.3),
    "candidates": lambda index: index.find_candidates(ASKED),
    "candidates of many": lambda index: index.find_candidates_batch([ASKED, DOCUMENTS[0]], limit=2),
    "containing": lambda index: index.find_containing({"text": FOX}),
    "contained": lambda index: index.find_contained({"text": PAGE}, threshold=0.7, most=None),
    "passages": lambda index: index.find_passages({"text": f"He said: {FOX}!"}, least_words=5),
    "containing a document": lambda index: index.find_containing(DOCUMENTS[0]),
    "contained in a document": lambda index: index.find_contained(DOCUMENTS[4]),
    "passages of a document": lambda index: index.find_passages(DOCUMENTS[0], least_words=5),
    "nearest to a document": lambda index: index.find_nearest(DOCUMENTS[0], recall=1),
    "a document": lambda index: index.get("fox/again"),
    "a number is no text": lambda index: index.get(7),
    "a text is no number": lambda index: index.get("7"),
    "no document": lambda index: index.get("nobody"),
    "documents": lambda index: index.documents(),
    "ids": lambda index: aiter(index) if hasattr(index, "__aiter__") else iter(index),
    "last seen": lambda index: index.last_seen("fox"),
    "never seen": lambda index: index.last_seen("nobody"),
    "probability": lambda index: index.probability(0.6),
}  # fmt: skip


async def all_of(found: Any) -> Any:
    """What came of a call: awaited, or gathered from its iterator."""
    if isinstance(found, AsyncIterator):
        return [one async for one in found]
    return await found


def gathered(found: Any) -> Any:
    return list(found) if isinstance(found, Iterator) else found


@pytest.mark.parametrize("name", CALLS)
def test_a_client_answers_as_an_index_here_does(service: Service, client: Client, name: str) -> None:
    call = CALLS[name]
    expected = gathered(call(service.local))
    assert gathered(call(client.index("docs"))) == expected
    assert service.awaited(lambda one: all_of(call(one.index("docs")))) == expected


def test_an_index_from_afar_reads_as_a_collection(service: Service, client: Client) -> None:
    index, local = client.index("docs"), service.local
    assert len(index) == len(local) == 6
    asked = ["fox", 7, "7", 8, "8", None, True, 1.5, "naïve 東京 🦊"]
    assert [one in index for one in asked] == [one in local for one in asked]
    assert index.settings == local.settings == SETTINGS
    assert index.info()["fingerprint"] == SETTINGS.fingerprint()
    assert service.awaited(lambda one: one.index("docs").count()) == 6

    async def settings(one: AsyncClient) -> IndexSettings:
        return await one.index("docs").settings

    assert service.awaited(settings) == SETTINGS


def test_evidence_comes_as_the_library_has_it(client: Client) -> None:
    (match,) = client.index("docs").find_similar({"text": FOX}, limit=1, evidence=True, contents=True)
    expected = benzer.compare(FOX, FOX, evidence=True).fields["text"].evidence
    assert (match, match.evidence["text"]) == (("fox", 1.0, {"text": 1.0}), expected)
    assert match.contents["text"] == FOX
    plain = client.index("docs").find_similar({"text": FOX}, limit=1)
    assert (plain[0].evidence, plain[0].contents, isinstance(plain[0], FoundMatch)) == ({}, {}, True)


@pytest.mark.parametrize("schema", [None, Schema(text=Text(unit="char", shingle_size=5))])
def test_compare_answers_as_the_library_does(service: Service, client: Client, schema: Schema | None) -> None:
    for explains in (False, True):
        expected = benzer.compare(FOX, FOX_AGAIN, schema, evidence=explains)
        assert client.compare(FOX, FOX_AGAIN, schema, evidence=explains) == expected
        assert (
            service.awaited(lambda one: one.compare(FOX, FOX_AGAIN, schema, evidence=explains)) == expected  # noqa: B023
        )


def test_compare_by_an_index_reads_documents_as_the_index_does(client: Client) -> None:
    expected = benzer.compare(DOCUMENTS[0], DOCUMENTS[1], SCHEMA, SETTINGS.minhash, evidence=True)
    assert client.index("docs").compare(DOCUMENTS[0], DOCUMENTS[1], evidence=True) == expected


# What changes


def test_what_is_added_is_held_replaced_and_removed(made: benzer.client.RemoteIndex) -> None:
    added = made.add({"a": {"text": FOX}, "b": {"text": OTHER, "tags": {1}}})
    assert (added, added.new, added.documents, added.malformed) == (2, 2, 2, [])
    again = made.add([("b", {"text": FOX}), {"id": 7, "text": OTHER}, Document("7", {"text": FOX})])
    assert (again, again.new, again.documents) == (3, 2, 4)
    assert made.get("b") == Document("b", {"text": FOX, "tags": None})
    assert made.remove([7, "nobody"]) == 1
    assert (7 in made, "7" in made, list(made)) == (False, True, ["a", "b", "7"])


def test_touch_and_evict_count_as_those_of_an_index(made: benzer.client.RemoteIndex) -> None:
    made.add([("a", {"text": FOX}), ("b", {"text": OTHER})])
    later = datetime(2100, 1, 1, tzinfo=timezone.utc)
    assert made.touch(["a", "nobody"], later) == 1
    assert made.last_seen("a") == later
    assert (made.evict(later), list(made)) == (1, ["a"])


def test_an_upload_comes_from_a_generator_and_says_how_far_it_is(
    service: Service, made: benzer.client.RemoteIndex
) -> None:
    taken = 0

    def documents() -> Iterator[tuple[int, dict[str, str]]]:
        nonlocal taken
        for number in range(5000):
            taken = number + 1
            yield number, {"text": f"document number {number} of very many"}

    told: list[tuple[int, int]] = []
    assert made.add(documents(), batch_size=1000, progress=lambda sent: told.append((sent, taken))) == 5000
    assert told == [(sent, sent) for sent in range(1000, 5001, 1000)]  # no more is taken than is sent
    assert len(made) == 5000
    assert [document.id for document in made.documents()] == list(range(5000))

    async def more(client: AsyncClient) -> tuple[int, list[Any]]:
        async def texts() -> AsyncIterator[tuple[str, dict[str, str]]]:
            for number in range(1500):
                yield f"a{number}", {"text": f"text {number}"}

        index = client.index("made")
        return await index.add(texts()), [id async for id in index][5000:]

    assert service.awaited(more) == (1500, [f"a{number}" for number in range(1500)])


BAD: list[tuple[Any, type[BenzerError], str]] = [
    (
        {"text": FOX},
        InputError,
        'row 3: a document must be a Document, an (id, text) pair or a mapping with an "id"',
    ),
    (("c", {"text": 7}), InputError, "row 3: document 'c'"),
    (("c", {"words": FOX}), MalformedRowError, "row 3: .*words"),
    ((1.5, {"text": FOX}), BenzerError, "row 3: "),
    (("c", {"tags": [{}]}), BenzerError, "row 3: "),
]


@pytest.mark.parametrize("bad, kind, message", BAD)
def test_a_malformed_document_is_told_of_by_its_row(
    made: benzer.client.RemoteIndex, bad: Any, kind: type[BenzerError], message: str
) -> None:
    documents = [("a", {"text": FOX}), ("b", {"text": OTHER}), bad, ("d", {"text": OTHER})]
    with pytest.raises(
        kind, match=f"^{message}.*; 2 documents are durable$".replace("(id, text)", r"\(id, text\)")
    ):
        made.add(iter(documents), batch_size=2)
    assert list(made) == ["a", "b"]
    added = made.add(documents, batch_size=2, on_error="skip")
    assert (added, added.new, added.malformed_count, list(made)) == (3, 1, 1, ["a", "b", "d"])
    (row,) = added.malformed
    assert isinstance(row, MalformedRow)
    assert (row.source, row.row) == ("documents", 3)


# Pictures


def test_pictures_are_sent_as_bytes_paths_and_arrays(client: Client, tmp_path: Path) -> None:
    settings = IndexSettings(Schema(photo=Image()), threshold=0.8)
    picture = scene(1)
    (tmp_path / "a.png").write_bytes(as_file(picture, "PNG"))
    index = client.create_index("photos", settings)
    try:
        assert (
            index.add([("path", tmp_path / "a.png"), ("bytes", as_file(picture, "PNG")), ("other", scene(2))])
            == 3
        )
        with Index.open("memory:", settings) as local:
            local.add([("path", picture), ("bytes", picture), ("other", scene(2))])
            assert index.find_similar(picture) == local.find_similar(picture)
            assert index.find_similar(str(tmp_path / "a.png"), limit=1)[0].id == "path"
            assert index.get("other") == local.get("other")
            assert list(index.documents()) == list(local.documents())
        with pytest.raises(InputError, match=r"row 1: .*cannot be read"):
            index.add([("none", tmp_path / "none.png")])
    finally:
        client.delete_index("photos")


# Duplicates


def test_the_duplicates_of_an_index_are_those_that_it_finds_itself(service: Service, client: Client) -> None:
    expected = service.local.find_duplicates()
    seen: list[str] = []
    job = client.index("docs").find_duplicates(measure=True)
    status = job.wait(progress=lambda status: seen.append(status.state))
    assert (status.state, seen[-1], status.counts, status.is_over) == ("done", "done", expected.counts, True)
    assert list(job.pairs()) == list(expected.pairs)
    assert dict(job.removed()) == expected.removed
    assert list(job.kept()) == expected.kept
    assert [one.kept_id for one in job.clusters("source")] == [
        one.representative for one in expected.clusters
    ]
    (first, *_) = job.clusters()
    opened = job.cluster(first.cluster)
    assert opened["members"][0]["id"] == first.kept_id
    left, right, _ = expected.pairs[0]
    assert job.evidence(left, right)["text"] == expected.evidence(left, right)["text"]
    assert job.summary()["counts"] == expected.counts
    assert job.report().startswith("<!doctype html>")
    assert job.download("pairs", "csv").splitlines()[0] == b"left_id,right_id,similarity"
    assert job.id in [one.id for one in client.jobs()]

    async def same(one: AsyncClient) -> Any:
        later = one.job(job.id)
        await later.wait()
        return [pair async for pair in later.pairs()], dict([row async for row in later.removed()])

    assert service.awaited(same) == (list(expected.pairs), expected.removed)
    job.delete()
    with pytest.raises(NotFoundError):
        job.status()


def test_duplicates_of_an_upload_go_for_those_of_an_index(service: Service, client: Client) -> None:
    documents = [
        ("new", {"text": FOX}),
        ("more", {"text": OTHER + " again"}),
        ("own", {"text": "quite another text"}),
    ]
    options: dict[str, Any] = {"threshold": 0.5, "schema": SCHEMA}
    told: list[int] = []
    job = client.find_duplicates(iter(documents), against=["docs"], progress=told.append, **options)
    job.wait()
    fields = [Document(id, content) for id, content in documents]
    expected = benzer.find_duplicates(fields, against=[service.local], **options)
    assert {id: one[:2] for id, one in job.removed()} == {id: one[:2] for id, one in expected.removed.items()}
    assert [one.kept_in for _, one in job.removed()] == ["docs"] * len(expected.removed)
    assert (list(job.kept()), told) == (expected.kept, [3])

    async def many(one: AsyncClient) -> int:
        many = await one.find_duplicates({"id": n, "text": f"text {n // 2} of many"} for n in range(6000))
        await many.wait()
        return len([pair async for pair in many.pairs()])

    assert service.awaited(many) == 3000


def test_a_job_that_fails_raises_what_it_failed_by(client: Client) -> None:
    job = client.find_duplicates([("a", {"words": FOX})])
    with pytest.raises(InputError, match=f"the job {job.id} failed: "):
        job.wait()


# Indexes, keys, and what goes wrong


def test_indexes_are_made_listed_and_deleted(client: Client) -> None:
    settings = IndexSettings(
        Schema(title=Text(unit="char", shingle_size=4, weight=2.0)), threshold=0.7, recall=0.9, minhash="kmins",
        num_hashes=60, bands=benzer.Bands(20, 3), seed=5, passages=True,
    )  # fmt: skip
    index = client.create_index("all", settings)
    assert (index.settings, len(index)) == (settings, 0)
    assert [one["name"] for one in client.indexes()] == ["all", "docs"]
    with pytest.raises(ServiceError, match="already") as caught:
        client.create_index("all")
    assert (caught.value.status, caught.value.type) == (409, "ConflictError")
    client.delete_index("all")
    with pytest.raises(NotFoundError, match="index 'all' does not exist"):
        client.index("all").get("a")
    assert client.create_index("plain").settings == IndexSettings()
    client.delete_index("plain")


def test_a_key_opens_what_it_is_for(service: Service) -> None:
    with Client(service.url) as nobody, pytest.raises(AccessError) as caught:
        nobody.indexes()
    assert caught.value.status == 401
    with Client(service.url, service.reader) as reader:
        assert reader.index("docs").find_similar(ASKED)
        with pytest.raises(AccessError) as caught:
            reader.index("docs").add([("a", {"text": FOX})])
        assert caught.value.status == 403


WRONG: list[tuple[Callable[[Any], Any], type[BenzerError], str]] = [
    (lambda index: index.find_similar(FOX), InputError, "a text is ambiguous for the fields text, tags"),
    (lambda index: index.find_similar(7), InputError, "a query must be a text"),
    (lambda index: index.find_similar(ASKED, limit=0), SettingsError, "limit must be 1 or more"),
    (lambda index: index.find_similar(ASKED, limit=1001), SettingsError, "at most 1,000 for a service"),
    (lambda index: index.find_similar(ASKED, threshold=1.5), InputError, "threshold"),
    (lambda index: index.find_similar({"words": FOX}), BenzerError, "words"),
    (lambda index: index.find_similar_batch(FOX), InputError, "documents must be a list"),
    (lambda index: index.find_passages({"tags": [1]}), InputError, "passages require a text"),
    (lambda index: index.remove("fox"), InputError, "ids must be a list"),
    (lambda index: index.add([], batch_size=0), SettingsError, "batch_size must be 1 or more"),
    (lambda index: index.add([], on_error="pass"), SettingsError, "on_error must be"),
    (lambda index: index.evict(None), InputError, "the time since which"),
    (lambda index: index.touch(["fox"], datetime(2026, 1, 1)), InputError, "no time zone"),
    (lambda index: index.get(2**70), InputError, "beyond 64 bits"),
]


@pytest.mark.parametrize("call, kind, message", WRONG)
def test_what_an_index_refuses_a_client_refuses_by_the_same_error(
    service: Service, client: Client, call: Callable[[Any], Any], kind: type[BenzerError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call(client.index("docs"))
    with pytest.raises(kind, match=message):
        service.awaited(lambda one: all_of(call(one.index("docs"))))


def test_health_and_tune_are_told(client: Client) -> None:
    assert client.health() == {"status": "ok", "version": benzer.__version__}
    told = client.tune(0.8, 0.95)
    assert told["probability"] >= 0.95
    assert told["bands"] * told["rows"] <= told["num_hashes"]
    assert client.index("docs").tune(0.5, 0.95, sample=100, examples=1)["tune"]["threshold"] == 0.5


# Both clients have all calls


NAMES = {
    "add", "remove", "find_similar", "find_similar_batch", "find_nearest", "find_candidates", "get", "evict",
    "find_candidates_batch", "find_containing", "find_contained", "find_passages", "documents", "touch", "last_seen",
    "info", "settings", "probability", "find_duplicates",
}  # fmt: skip


def test_both_clients_have_every_method_of_an_index() -> None:
    for kind in (benzer.client.RemoteIndex, benzer.client.AsyncRemoteIndex):
        assert set(dir(kind)) >= NAMES


def test_parameters_are_named_as_those_of_an_index_and_come_in_its_order() -> None:
    own = {"threads", "seen_at"}  # are the service's to choose
    for name in NAMES - {"info", "settings", "probability", "documents", "last_seen", "find_duplicates"}:
        theirs = inspect.signature(getattr(Index, name)).parameters.values()
        shared = [(one.name, one.default) for one in theirs if one.name not in own or name == "touch"]
        for kind in (benzer.client.RemoteIndex, benzer.client.AsyncRemoteIndex):
            ours = inspect.signature(getattr(kind, name)).parameters.values()
            positional = [(one.name, one.default) for one in ours if one.kind is not one.KEYWORD_ONLY]
            assert positional == shared, name


def test_methods_say_what_they_give_not_by_which_steps() -> None:
    sync, awaited = benzer.client.RemoteIndex, benzer.client.AsyncRemoteIndex
    assert str(inspect.signature(sync.get)) == "(self, document_id: 'DocumentId') -> 'Document | None'"
    assert inspect.signature(sync.documents).return_annotation == "Iterator[Document]"
    assert inspect.iscoroutinefunction(awaited.get)
    assert not inspect.iscoroutinefunction(sync.get)
    assert sync.get.__doc__ == awaited.get.__doc__


# What the documents say

PAGE_OF_CLIENT = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "use-the-python-client.md"


def test_the_examples_of_the_page_print_what_it_says(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = PAGE_OF_CLIENT.read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert examples.count("benzer.Client(") == 1
    examples = examples.replace('"http://127.0.0.1:8000"', f'"{service.url}", "{service.key}"')
    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE_OF_CLIENT.name, str(PAGE_OF_CLIENT), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
        test, out=report.append
    )
    assert "".join(report) == ""
