"""Jobs over HTTP give what the library finds, in every format and page by page, whatever ids and clients there are."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pyarrow.parquet
import pytest

from benzer.index import Index, IndexSettings
from benzer.pipeline import find_duplicates
from benzer.report import report_html
from benzer.results import Duplicates
from benzer.service import Limits, ServiceOptions, create_app
from benzer.service.indexes.catalog import Catalog
from benzer.service.jobs.tables import TABLES, rows_of
from benzer.service.jobs.wire import Cluster, DecidedRows, Rows, ShownJob, ShownJobs, TwoDocuments
from benzer.service.keys import add_key
from tests.doors.service import ROOT, curl, refused, serving

SAMPLES = ROOT / "examples" / "data" / "documents.jsonl"
PAGE = ROOT / "docs" / "how-to" / "find-duplicates-with-the-service.md"
NDJSON = {"Content-Type": "application/x-ndjson"}
SECONDS = 120.0
HOSTILE = [
    "=1+1",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "a/b?c=d&e#f",
    'say "hi", twice',
    "naïve 東京 🦊",
    "%00",
]
TEXT = "<img src=x onerror=alert(1)> the quick brown fox jumps over the lazy dog"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample documents."""
    path = tmp_path_factory.mktemp("jobs") / "documents.benzer"
    with Index.open(path) as index, SAMPLES.open() as lines:
        index.add((row["id"], row["text"]) for row in map(json.loads, lines))
    return path


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the service puts what is uploaded."""
    return tmp_path_factory.mktemp("spool")


@pytest.fixture(scope="module")
def client(path: Path, spool: Path) -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TMPDIR", str(spool))
        with serving(path, forked=False) as (client, _):
            yield client


@pytest.fixture(scope="module")
def found(path: Path) -> Duplicates:
    with Index.open(path, mode="read") as index:
        return index.find_duplicates()


def begun(client: httpx.Client, body: Any = None, **upload: Any) -> str:
    """Start a job; gives its address."""
    if body is not None:
        response = client.post("/v1/duplicates", json=body)
    else:
        response = client.post("/v1/duplicates", headers=NDJSON, **upload)
    assert response.status_code == 202, response.text
    job = response.json()
    ShownJob.model_validate(job, extra="forbid")
    assert response.headers["location"] == f"/v1/duplicates/{job['id']}"
    return response.headers["location"]


def ended(client: httpx.Client, address: str) -> dict[str, Any]:
    """The job when it is over."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        job: dict[str, Any] = client.get(address).json()
        if job["state"] not in ("waiting", "running"):
            ShownJob.model_validate(job, extra="forbid")
            return job
        time.sleep(0.02)
    raise AssertionError(f"{address} did not end")


@pytest.fixture(scope="module")
def job(client: httpx.Client) -> str:
    """The address of a job over the index that is done."""
    address = begun(client, {"index": "documents", "measure": True})
    assert ended(client, address)["state"] == "done"
    return address


def lines_of(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def everything(client: httpx.Client, address: str, limit: int) -> list[dict[str, Any]]:
    """All rows of a table, page by page."""
    rows: list[dict[str, Any]] = []
    at: str | None = f"{address}{'&' if '?' in address else '?'}limit={limit}"
    while at is not None:
        page = client.get(at).json()
        Rows.model_validate(page, extra="forbid")
        rows += page["rows"]
        at = page["next"]
    assert len(rows) == page["total"]
    return rows


# What it finds


def test_a_job_over_an_index_finds_what_the_index_finds(
    client: httpx.Client, job: str, found: Duplicates
) -> None:
    shown = client.get(job).json()
    assert shown["counts"] == found.counts
    assert shown["settings"] == found.settings.to_dict()
    assert shown["recall"] == found.measure_recall().to_dict()
    assert shown["source"] == {"index": "documents"}
    for name in ("pairs", "removed", "malformed"):
        assert everything(client, f"{job}/{name}", 300) == rows_of(found.table(name))
    assert [row["id"] for row in everything(client, f"{job}/kept", 1000)] == found.kept
    for order in ("largest", "doubtful"):
        rows = everything(client, f"{job}/clusters?order={order}", 100)
        assert [(row["kept_id"], row["size"], row["least"]) for row in rows] == [
            (one.representative, one.size, one.least_similarity) for one in found.cluster_report(order)
        ]
    told = client.get(f"{job}/summary").json()
    assert {**told, "seconds_by_stage": 0} == {
        **found.summary(), "seconds_by_stage": 0, "alarms": [alarm.to_dict() for alarm in found.alarms()],
    }  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_each_format_reads_back_as_the_same_rows(client: httpx.Client, job: str, name: str) -> None:
    rows = everything(client, f"{job}/{name}", 1000)
    responses = {
        one: client.get(f"{job}/{name}", params={"format": one}) for one in ("ndjson", "csv", "parquet")
    }
    assert all(f'filename="{job[15:]}-{name}.{one}"' in response.headers["content-disposition"]
               for one, response in responses.items())  # fmt: skip
    assert [json.loads(line) for line in responses["ndjson"].text.splitlines()] == rows
    assert pyarrow.parquet.read_table(io.BytesIO(responses["parquet"].content)).to_pylist() == rows
    read = list(csv.DictReader(io.StringIO(responses["csv"].text, newline="")))
    assert read == [{key: str(value) for key, value in row.items()} for row in rows]
    part = client.get(f"{job}/{name}", params={"format": "ndjson", "offset": 2, "limit": 3})
    assert [json.loads(line) for line in part.text.splitlines()] == rows[2:5]


def test_an_upload_gives_what_its_file_gives_and_leaves_no_file(client: httpx.Client, spool: Path) -> None:
    def chunks() -> Iterator[bytes]:
        content = SAMPLES.read_bytes()
        yield from (content[at : at + 99_999] for at in range(0, len(content), 99_999))

    address = begun(client, content=chunks(), params={"threshold": "0.7", "keep": "longest"})
    assert ended(client, address)["source"] == {"upload": 1764}
    expected = find_duplicates(SAMPLES, threshold=0.7, keep="longest")
    places = {"file": "upload", "kept_file": "upload"}
    assert everything(client, f"{address}/removed", 1000) == [
        {**row, **places} for row in rows_of(expected.table("removed"))
    ]
    assert client.get(f"{address}/clusters/0").json()["members"][0]["contents"]["text"]
    assert not list(spool.iterdir())


def test_two_jobs_at_once_do_not_mix(client: httpx.Client, found: Duplicates) -> None:
    over = begun(client, {"index": "documents"})
    upload = begun(client, content=SAMPLES.read_bytes(), params={"against": "documents", "measure": "true"})
    assert ended(client, over)["counts"] == found.counts
    job = ended(client, upload)
    assert job["settings"]["against"] == ["documents"]
    # An old document of the same id is no match of itself; each other one of a cluster is one.
    assert job["counts"]["known"] == job["counts"]["removed"] > 0
    row = client.get(f"{upload}/removed", params={"limit": 1}).json()["rows"][0]
    assert row["kept_in"] == "documents"
    asked = {"left": row["id"], "right": row["kept_id"], "index": "documents"}
    both = client.get(f"{upload}/evidence", params=asked).json()
    TwoDocuments.model_validate(both, extra="forbid")
    assert both["similarity"] == row["similarity"] == both["fields"]["text"]["similarity"]
    assert "the job has no match between document 'other'" in refused(
        client.get(f"{upload}/evidence", params={**asked, "right": "other"}), 404
    )


def test_all_jobs_are_listed_the_newest_first(client: httpx.Client, job: str) -> None:
    last = begun(client, {"documents": []})
    assert ended(client, last)["counts"]["documents"] == 0
    shown = client.get("/v1/duplicates").json()
    ShownJobs.model_validate(shown, extra="forbid")
    ids = [one["id"] for one in shown["jobs"]]
    assert ids[0] == last[15:]
    assert job[15:] in ids
    assert client.delete(last).status_code == 204
    assert "see GET /v1/duplicates for all jobs" in refused(client.get(last), 404)


# How it is seen


def test_a_cluster_is_opened_and_two_of_its_documents_are_compared(
    client: httpx.Client, job: str, found: Duplicates
) -> None:
    shown = client.get(f"{job}/clusters/3", params={"length": 20}).json()
    Cluster.model_validate(shown, extra="forbid")
    (cluster,) = [one for one in found.clusters if one.representative == shown["kept_id"]]
    assert {one["id"]: one["similarity"] for one in shown["members"] if not one["kept"]} == cluster.removed
    assert all(len(one["contents"]["text"]) == 20 and one["contents_cut"] for one in shown["members"])
    pages = [
        client.get(f"{job}/clusters/3", params={"offset": at, "limit": 2, "length": 20}).json()
        for at in range(0, 8, 2)
    ]
    assert [one for page in pages for one in page["members"]] == shown["members"]
    pair = found.pairs[3]
    both = client.get(f"{job}/evidence", params={"left": pair.left_id, "right": pair.right_id}).json()
    TwoDocuments.model_validate(both, extra="forbid")
    assert both["similarity"] == pair.similarity
    expected = found.evidence(pair)["text"]
    assert [one["a"] for one in both["fields"]["text"]["evidence"]["passages"]] == [
        list(passage.a) for passage in expected.passages[:20]
    ]
    assert "cluster 99999 does not exist" in refused(client.get(f"{job}/clusters/99999"), 404)
    assert "no document" in refused(client.get(f"{job}/evidence", params={"left": "x", "right": "y"}), 404)


def test_a_job_is_seen_at_a_higher_threshold(client: httpx.Client, job: str, found: Duplicates) -> None:
    expected = found.rethreshold(0.9)
    rows = everything(client, f"{job}/removed?threshold=0.9", 1000)
    assert rows == rows_of(expected.table("removed")) != rows_of(found.table("removed"))
    assert client.get(f"{job}/summary", params={"threshold": 0.9}).json()["counts"] == expected.counts
    for least in ("0.79", "1.01", "nan"):
        assert "threshold must be from 0.8" in refused(
            client.get(f"{job}/pairs", params={"threshold": least}), 422
        )


def test_the_report_stands_alone_and_may_do_nothing(
    client: httpx.Client, job: str, found: Duplicates
) -> None:
    response = client.get(f"{job}/report")
    assert response.headers["content-security-policy"] == (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'"
    )
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    times = re.compile(r"[\d.,]+ m?s\b")
    assert times.sub("", response.text) == times.sub("", report_html(found, found.measure_recall()))


def test_decisions_are_answered_with_what_stays_and_what_goes(
    client: httpx.Client, job: str, found: Duplicates
) -> None:
    decisions = {"decisions": [{"cluster": 0, "decision": "split"}, {"cluster": 1, "decision": "keep"}]}
    split = client.get(f"{job}/clusters/0").json()
    kept = client.post(f"{job}/decisions", json=decisions).json()
    DecidedRows.model_validate(kept, extra="forbid")
    members = {one["id"] for one in split["members"]}
    assert {row["id"] for row in kept["rows"]} == {*found.kept, *members}
    assert (kept["kept"], kept["removed"]) == (len(kept["rows"]), 1764 - len(kept["rows"]))
    asked = {"table": "removed", "format": "ndjson"}
    removed = client.post(f"{job}/decisions", json=decisions, params=asked).text.splitlines()
    assert [json.loads(line) for line in removed] == [
        row for row in rows_of(found.table("removed")) if row["id"] not in members
    ]
    wrong = {"decisions": [{"cluster": 0, "decision": "split", "members": ["nobody"]}]}
    response = client.post(f"{job}/decisions", json=wrong)
    assert "has no member 'nobody'" in refused(response, 422)
    assert response.json()["error"]["field"] == "body.decisions.0.members"


# What is hostile


def test_hostile_ids_and_texts_come_back_as_they_are_and_nowhere_as_anything_else(
    client: httpx.Client,
) -> None:
    rows = [{"id": id, "text": f"{TEXT} {number // 2}"} for number, id in enumerate([*HOSTILE, 7, "7"])]
    address = begun(client, content=lines_of(*rows), params={"threshold": "0.6"})
    job = ended(client, address)
    assert job["state"] == "done"
    expected = find_duplicates(rows, threshold=0.6)
    read = client.get(f"{address}/pairs", params={"format": "ndjson"}).text
    assert [json.loads(line) for line in read.splitlines()] == rows_of(expected.table("pairs"))
    text = client.get(f"{address}/removed", params={"format": "csv"}).text
    for row in csv.DictReader(io.StringIO(text, newline="")):
        assert not row["id"].startswith(("=", "+", "-", "@"))
        assert not row["kept_id"].startswith(("=", "+", "-", "@"))
    report = client.get(f"{address}/report").text
    assert "<script" not in report
    assert "<img" not in report
    for id in HOSTILE:
        both = client.get(f"{address}/evidence", params={"left": id, "right": "7"}).json()
        assert (both["left"]["id"], both["right"]["id"]) == (id, "7")
    for id in HOSTILE:
        assert client.get(f"/v1/duplicates/{quote(id, safe='')}").status_code in (404, 422)
    assert client.delete(address).status_code == 204


@pytest.mark.parametrize(
    "body, field",
    [
        ({}, "body"),
        ({"index": "documents", "documents": []}, "body"),
        ({"index": "documents", "fields": {"text": {"type": "text"}}}, "body"),
        ({"index": "documents", "threshold": "0.8"}, "body.threshold"),
        ({"index": "documents", "method": "fast"}, "body.method"),
        ({"index": "documents", "colour": "red"}, "body.colour"),
        ({"index": "documents", "keep": "largest:stars"}, None),
        ({"index": "documents", "threshold": 0}, "body.threshold"),
        ({"documents": [], "fields": {"text": {"type": "sound"}}}, None),
        ({"documents": [], "fields": {"text": {}}}, "fields"),
        ({"documents": [], "fields": {"text": {"type": "text", "loud": True}}}, "fields"),
        ({"documents": [], "fields": {"text": {"type": "text", "unit": "char"}}, "against": ["documents"]}, "against"),
    ],
)  # fmt: skip
def test_what_makes_no_job_is_refused_at_once(client: httpx.Client, body: Any, field: str | None) -> None:
    response = client.post("/v1/duplicates", json=body)
    refused(response, 422)
    assert response.json()["error"]["field"] == field


def test_what_makes_no_upload_is_refused_at_once(client: httpx.Client, spool: Path) -> None:
    for query, field in (
        ({"threshold": "much"}, "query.threshold"),
        ({"fields": "{"}, "query.fields"),
        ({"colour": "red"}, "query.colour"),
    ):
        response = client.post("/v1/duplicates", content=b"{}", headers=NDJSON, params=query)
        refused(response, 422)
        assert response.json()["error"]["field"] == field
    for query in ({"against": "other"}, {"against": "documents,other"}):
        assert "index 'other' does not exist" in refused(
            client.post("/v1/duplicates", content=b"{}", headers=NDJSON, params=query), 404
        )
    assert "index 'other' does not exist" in refused(
        client.post("/v1/duplicates", json={"index": "other"}), 404
    )
    assert refused(client.post("/v1/duplicates", content=b"a", headers={"Content-Type": "text/csv"}), 415)
    assert not list(spool.iterdir())


def test_a_malformed_row_fails_the_job_in_the_shape_of_errors_or_is_listed(client: httpx.Client) -> None:
    content = lines_of({"id": "a", "text": TEXT}) + b"no JSON\n" + lines_of({"id": "b", "text": TEXT})
    job = ended(client, address := begun(client, content=content))
    assert job["state"] == "failed"
    assert job["error"]["type"] == "MalformedRowError"
    assert job["error"]["message"].startswith("upload line 2: ")
    assert "is failed: it has no result" in refused(client.get(f"{address}/pairs"), 409)
    address = begun(client, content=content, params={"on_error": "skip"})
    assert ended(client, address)["counts"]["malformed"] == 1
    (row,) = client.get(f"{address}/malformed").json()["rows"]
    assert (row["file"], row["row"]) == ("upload", 2)
    twice = ended(client, begun(client, {"documents": [{"id": 1, "text": "a"}, {"id": 1, "text": "b"}]}))
    assert (twice["counts"]["documents"], twice["counts"]["repeated_ids"]) == (2, 1)
    documents = [{"id": 1, "text": "a"}, {"id": 1, "text": "b"}]
    for action, result in (("skip", "done"), ("stop", "failed")):
        twice = ended(client, begun(client, {"documents": documents, "on_duplicate_id": action}))
        assert twice["state"] == result
    assert twice["error"]["type"] == "DuplicateIdError"


def test_a_client_that_goes_away_leaves_nothing_behind(client: httpx.Client, spool: Path, job: str) -> None:
    before = len(client.get("/v1/duplicates").json()["jobs"])
    host, port = client.base_url.host, client.base_url.port
    assert port is not None
    head = f"Host: {host}:{port}\r\n"
    with socket.create_connection((host, port)) as upload:
        kind = "Content-Type: application/x-ndjson\r\nContent-Length: 999999\r\n\r\n"
        sent = f"POST /v1/duplicates HTTP/1.1\r\n{head}{kind}"
        upload.sendall(sent.encode() + b'{"id": "a", "text": "one"}\n' * 100)
        end = time.monotonic() + SECONDS
        while not list(spool.iterdir()) and time.monotonic() < end:
            time.sleep(0.01)
        assert list(spool.iterdir())
    with socket.create_connection((host, port)) as download:
        download.sendall(f"GET {job}/removed?format=ndjson HTTP/1.1\r\n{head}\r\n".encode())
    while list(spool.iterdir()) and time.monotonic() < end:
        time.sleep(0.01)
    assert not list(spool.iterdir())
    assert len(client.get("/v1/duplicates").json()["jobs"]) == before


def test_a_page_has_a_bound_and_files_have_none(client: httpx.Client, job: str) -> None:
    assert "a page has at most 10,000 rows" in refused(
        client.get(f"{job}/pairs", params={"limit": 10_001}), 422
    )
    assert client.get(f"{job}/pairs", params={"limit": 0}).json()["next"] is None
    beyond = client.get(f"{job}/pairs", params={"offset": 10**15}).json()
    assert (beyond["rows"], beyond["total"], beyond["next"]) == ([], 778, None)
    many = client.get(f"{job}/pairs", params={"limit": 10**15, "format": "ndjson"})
    assert len(many.text.splitlines()) == 778


# How it ends


def test_cancel_answers_with_the_job_and_a_full_queue_says_when_to_try_again(path: Path) -> None:
    async def story() -> None:
        with Catalog() as catalog:
            catalog.open(path)
            app = create_app(catalog, ServiceOptions(Limits(max_jobs=1, max_results=1), pages=False))
            jobs = app.state.shared.jobs
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                with jobs.place():
                    full = await client.post("/v1/duplicates", json={"index": "documents"})
                assert (full.status_code, full.headers["retry-after"]) == (503, "5")
                assert full.json()["error"]["type"] == "BusyError"
                first = (await client.post("/v1/duplicates", json={"index": "documents"})).json()
                cancelled = (await client.post(f"/v1/duplicates/{first['id']}/cancel")).json()
                assert cancelled["state"] in ("cancelled", "done")  # it may have been quicker
                second = (await client.post("/v1/duplicates", json={"index": "documents"})).json()
                await asyncio.to_thread(jobs.wait, second["id"], SECONDS)
                gone = await client.get(f"/v1/duplicates/{first['id']}")
                assert gone.status_code == 404
                assert (
                    "was deleted, because at most 1 finished jobs are kept" in gone.json()["error"]["message"]
                )
            jobs.close()

    asyncio.run(story())


def test_a_service_that_is_stopped_cancels_what_runs(path: Path) -> None:
    with serving(path) as (client, process):
        for _ in range(4):
            begun(client, {"index": "documents", "method": "exact", "measure": True})
    assert process.returncode is not None


def test_the_examples_of_the_page_answer_as_it_says(path: Path) -> None:
    blocks = re.findall(r"^```(sh|json)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    shown, job = "5d41402abc4b2a76", ""
    answered: Any = None
    count = 0
    with serving(path) as (client, _):
        for kind, text in blocks:
            if kind == "json":
                expected = json.loads(text.replace(shown, job))
                assert {key: answered[key] for key in expected} == expected
                continue
            request = re.search("^curl .*", text, re.M | re.S)
            if request is None:
                continue
            response = curl(client, request[0].replace("$JOB", job))
            assert response.status_code < 300, response.text
            count += 1
            json_type = response.headers.get("content-type") == "application/json"
            answered = response.json() if json_type else None
            if response.status_code == 202:
                ended(client, response.headers["location"])
                job = job or answered["id"]
    assert count == 11


def test_settings_of_an_index_are_those_of_its_jobs(tmp_path: Path) -> None:
    path = tmp_path / "own.benzer"
    with Index.open(path, IndexSettings(threshold=0.5, recall=0.9)) as index:
        index.add([("a", TEXT), ("b", TEXT + " twice"), ("c", "something else entirely")])
        expected = index.find_duplicates()
    with serving(path) as (client, _):
        address = begun(client, {"index": "own"})
        assert ended(client, address)["settings"] == expected.settings.to_dict()
        assert [row["id"] for row in everything(client, f"{address}/removed", 1)] == list(expected.removed)


def test_a_key_that_may_read_may_start_end_and_forget_jobs(path: Path, tmp_path: Path) -> None:
    key = add_key(tmp_path / "service.keys", "reader")[1]
    with serving(path, "--keys", tmp_path / "service.keys") as (client, _):
        assert client.post("/v1/duplicates", json={"index": "documents"}).status_code == 401
        client.headers["Authorization"] = f"Bearer {key}"
        address = begun(client, {"index": "documents"})
        ended(client, address)
        assert client.post(f"{address}/decisions", json={"decisions": []}).status_code == 200
        assert client.post(f"{address}/cancel").json()["state"] == "done"
        assert client.delete(address).status_code == 204
        upload = begun(client, content=lines_of({"id": 1, "text": TEXT}))
        assert ended(client, upload)["state"] == "done"
        assert client.post("/v1/indexes/documents/documents", json={"documents": []}).status_code == 403
