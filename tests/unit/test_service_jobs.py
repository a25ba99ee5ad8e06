"""A job finds what the library finds, ends when it is told to, and leaves nothing behind."""

from __future__ import annotations

import gc
import json
import logging
import threading
import weakref
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from benzer.document import Document
from benzer.errors import InputError, MalformedRowError, SettingsError
from benzer.fields import Schema, Text, ValueSet
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings
from benzer.pipeline import find_duplicates
from benzer.results import Duplicates
from benzer.service.errors import Refusal
from benzer.service.indexes.served import ServedIndex
from benzer.service.jobs import Job, Jobs, runner, sides
from benzer.service.jobs.job import Cancelled
from benzer.service.jobs.results import Result, bytes_of
from benzer.service.jobs.running import JobRequest, Search, check
from benzer.service.jobs.tables import rows_of
from benzer.service.settings import Limits
from tests.jobs import RESULT, ROWS, TEXTS, search, spooled

SECONDS = 30


@dataclass
class Scripted:
    """A task that begins, waits to be let go on, and then does what it is told."""

    end: Callable[[], Result] = lambda: Result(RESULT)
    go_on: threading.Event = field(default_factory=threading.Event)
    began: threading.Event = field(default_factory=threading.Event)
    closed: int = 0

    def run(self, told: Any) -> Result:
        self.began.set()
        while not self.go_on.wait(0.01):
            told("waiting", 0, None)
        told("going on", 1, 2)
        return self.end()

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    jobs = Jobs(Limits(max_jobs=4, max_results=3))
    yield jobs
    jobs.close()


def start(jobs: Jobs, task: Any) -> str:
    with jobs.place() as begin:
        return begin(task, Job({"upload": None}, {})).id


def ready(end: Callable[[], Result] = lambda: Result(RESULT)) -> Scripted:
    task = Scripted(end)
    task.go_on.set()
    return task


def over(jobs: Jobs, id: str) -> Job:
    job = jobs.wait(id, SECONDS)
    assert job.is_over
    return job


def same(found: Duplicates, other: Duplicates, but: tuple[str, ...] = ("file", "kept_file")) -> None:
    """Two results are equal but for the names of what was read."""
    assert (list(found.pairs), found.kept, found.removed, found.clusters, found.counts) == (
        list(other.pairs), other.kept, other.removed, other.clusters, other.counts,
    )  # fmt: skip
    assert found.settings == other.settings
    for name in ("pairs", "removed", "clusters", "malformed"):
        one, two = rows_of(found.table(name)), rows_of(other.table(name))
        assert [{key: row[key] for key in row if key not in but} for row in one] == [
            {key: row[key] for key in row if key not in but} for row in two
        ]


# The queue


def test_a_job_waits_runs_and_is_done(jobs: Jobs) -> None:
    task = Scripted()
    id = start(jobs, task)
    assert task.began.wait(SECONDS)
    assert jobs[id].state == "running"
    with pytest.raises(Refusal, match="is running: its result is available when it is done"):
        jobs.result(id)
    task.go_on.set()
    job = over(jobs, id)
    assert (job.state, job.counts, job.source) == ("done", RESULT.counts, {"upload": 6})
    assert jobs.result(id).result is RESULT
    assert task.closed == 1
    shown = job.to_dict()
    assert shown["created"] <= shown["started"] <= shown["ended"]


def test_a_full_queue_refuses_and_says_when_to_try_again(jobs: Jobs) -> None:
    tasks = [Scripted() for _ in range(3)]
    for task in tasks:
        start(jobs, task)
    with jobs.place(), pytest.raises(Refusal) as refusal, jobs.place():
        pass
    assert (refusal.value.status, refusal.value.headers["Retry-After"]) == (503, "5")
    for task in tasks:
        task.go_on.set()
    with jobs.place():  # what was refused, or given back, takes no place
        pass


def test_a_waiting_job_that_is_cancelled_never_begins(jobs: Jobs) -> None:
    running, waiting = [Scripted() for _ in range(runner.AT_ONCE)], Scripted()
    for task in running:
        start(jobs, task)
    id = start(jobs, waiting)
    assert jobs.cancel(id).state == "cancelled"
    assert (waiting.began.is_set(), waiting.closed) == (False, 1)
    with pytest.raises(Refusal, match="is cancelled: it has no result"):
        jobs.result(id)


def test_running_jobs_that_are_cancelled_make_room_for_others(jobs: Jobs) -> None:
    running = [Scripted() for _ in range(runner.AT_ONCE)]
    ids = [start(jobs, task) for task in running]
    last = start(jobs, ready())
    assert all(task.began.wait(SECONDS) for task in running)
    for id in ids:
        jobs.cancel(id)
    assert [over(jobs, id).state for id in (*ids, last)] == [*["cancelled"] * len(ids), "done"]
    assert [task.closed for task in running] == [1] * len(ids)
    assert jobs.cancel(last).state == "done"  # too late


@pytest.mark.parametrize(
    "error, told",
    [
        (InputError("line 7 is no JSON"), ("InputError", "line 7 is no JSON")),
        (MalformedRowError("row 1"), ("MalformedRowError", "row 1")),
        (Refusal(422, "too long", type="TextTooLongError"), ("TextTooLongError", "too long")),
        (MemoryError(), ("MemoryError", "fewer documents")),
        (ZeroDivisionError("secret"), ("ServerError", "this is a bug in Benzer")),
        (SystemExit("secret"), ("ServerError", "this is a bug in Benzer")),
    ],
)
def test_a_job_that_fails_says_why_and_no_more(
    jobs: Jobs, error: BaseException, told: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> Result:
        raise error

    with caplog.at_level(logging.ERROR, "benzer.service"):
        job = over(jobs, start(jobs, ready(fail)))
    assert job.state == "failed"
    assert job.error is not None
    assert job.error.type == told[0]
    assert told[1] in job.error.message
    assert "secret" not in job.error.message
    assert bool(caplog.records) == (told[0] == "ServerError")


def test_where_an_index_lies_is_not_told() -> None:
    def fail() -> Result:
        raise InputError("/srv/secret/news.benzer is damaged")

    jobs = Jobs(Limits(), lambda message: message.replace("/srv/secret/news.benzer", "news"))
    job = over(jobs, start(jobs, ready(fail)))
    assert job.to_dict()["error"] == {"type": "InputError", "message": "news is damaged"}
    jobs.close()


def test_the_oldest_of_those_that_ended_give_way_and_say_so(jobs: Jobs) -> None:
    ids = []
    for _ in range(5):
        ids.append(start(jobs, ready()))
        over(jobs, ids[-1])
    assert [job.id for job in jobs] == ids[:1:-1]
    with pytest.raises(Refusal, match="was deleted, because at most 3 finished jobs are kept") as refusal:
        jobs[ids[0]]
    assert refusal.value.status == 404
    with pytest.raises(Refusal, match="job 'other' does not exist") as refusal:
        jobs["other"]
    assert refusal.value.status == 404


def test_results_together_stay_below_a_bound_but_for_the_last_one() -> None:
    size = bytes_of(RESULT)
    assert size > sum(map(len, TEXTS.values()))
    for most, kept in ((2 * size, 2), (1, 1)):
        jobs = Jobs(Limits(max_result_bytes=most))
        for _ in range(4):
            over(jobs, start(jobs, ready()))
        assert len(list(jobs)) == kept
        jobs.close()


def test_a_job_that_is_deleted_while_it_runs_leaves_nothing(jobs: Jobs) -> None:
    task = Scripted()
    id = start(jobs, task)
    assert task.began.wait(SECONDS)
    kept = jobs._kept[id]
    jobs.delete(id)
    assert list(jobs) == []
    assert kept.future is not None
    kept.future.result(SECONDS)
    assert (kept.job.state, kept.result, kept.task, task.closed) == ("cancelled", None, None, 1)
    with pytest.raises(Refusal, match="see GET /v1/duplicates for all jobs"):
        jobs.delete(id)


def test_the_end_of_the_service_cancels_all_jobs_and_takes_no_more() -> None:
    jobs = Jobs(Limits())
    tasks = [Scripted() for _ in range(4)]
    for task in tasks:
        start(jobs, task)
    jobs.close()
    assert [task.closed for task in tasks] == [1] * 4
    assert list(jobs) == []
    with pytest.raises(Refusal) as refusal, jobs.place():
        pass
    assert refusal.value.status == 503


def test_what_was_given_to_a_job_is_freed_when_it_ends(jobs: Jobs) -> None:
    class Given(list[Any]):
        """A list that can be seen to go."""

    given = Given(ROWS)
    watched = weakref.ref(given)
    task = Search(JobRequest(), None, given, {})
    id = start(jobs, task)
    assert over(jobs, id).state == "done"
    del given, task
    gc.collect()
    assert watched() is None


# What it finds


@pytest.mark.parametrize(
    "query",
    [
        JobRequest(0.6),
        JobRequest(0.6, method="exact"),
        JobRequest(0.6, 1.0),
        JobRequest(0.7, 0.5, keep="longest"),
        JobRequest(method="auto"),
    ],
)
def test_an_upload_of_flat_lines_gives_what_its_file_gives(query: JobRequest, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    expected = find_duplicates(
        path, threshold=0.8 if query.threshold is None else query.threshold,
        recall=0.95 if query.recall is None else query.recall, keep=query.keep, method=query.method,
    )  # fmt: skip
    same(search(query, spooled(*ROWS)), expected)


def test_documents_with_fields_give_the_same_as_lines_and_as_a_body() -> None:
    nested = [{"id": row["id"], "fields": {"text": row["text"]}} for row in ROWS]
    mixed = [*nested[:3], *ROWS[3:]]
    for uploaded in (spooled(*nested), spooled(*mixed), nested, mixed, ROWS):
        same(search(JobRequest(0.6), uploaded), RESULT)


def test_value_sets_columns_to_keep_by_and_made_ids_are_as_the_library_has_them() -> None:
    schema = Schema(text=Text(), tags=ValueSet())
    rows = [
        {"text": TEXTS["a"], "tags": ["x", 1], "stars": 1},
        {"text": TEXTS["b"], "tags": ["x", 1], "stars": 3},
        {"text": TEXTS["d"], "tags": [], "stars": 2},
    ]
    expected = find_duplicates(rows, schema=schema, keep="largest:stars")
    found = search(JobRequest(keep="largest:stars", schema=schema), spooled(*rows))
    assert found.kept == ["upload:2", "upload:3"]
    assert [id.replace("documents", "upload") for id in map(str, expected.kept)] == found.kept
    nested = [
        {"id": None, "fields": {"text": row["text"], "tags": row["tags"], "stars": row["stars"]}}
        for row in rows
    ]
    same(search(JobRequest(keep="largest:stars", schema=schema), spooled(*nested)), found)


def test_an_index_gives_what_it_finds_itself_and_other_settings_what_the_library_finds(
    tmp_path: Path,
) -> None:
    path = tmp_path / "docs.benzer"
    with Index.open(path, IndexSettings(threshold=0.6, minhash="kmins", seed=7)) as index:
        index.add(TEXTS.items())
        index.add([("a", TEXTS["d"])])
        itself = index.find_duplicates()
        documents = list(index.documents())
    with ServedIndex.open(path) as served:
        same(search(JobRequest(), index=served), itself)
        same(search(JobRequest(threshold=0.6), index=served), itself)
        same(search(JobRequest(threshold=0.9), index=served), find_duplicates(documents, threshold=0.9))
        exact = find_duplicates(documents, threshold=0.6, method="exact")
        same(search(JobRequest(method="exact"), index=served), exact)


def test_a_job_reads_an_index_as_it_is_at_one_moment(tmp_path: Path) -> None:
    path = tmp_path / "docs.benzer"
    with Index.open(path, IndexSettings(threshold=0.6)) as index:
        index.add(TEXTS.items())
        before = index.find_duplicates()
    changed = []

    def told(stage: str, done: int, total: int | None) -> None:
        if stage == "read" and not changed:
            with Index.open(path) as index:
                changed.append(index.remove(["d"]) + index.add([("a", "another text")]))

    with ServedIndex.open(path) as served:
        same(Search(JobRequest(), served, None, {}).run(told).result, before)
    assert changed == [2]


def test_documents_are_held_against_indexes_by_the_names_that_they_are_served_under(tmp_path: Path) -> None:
    path, second = tmp_path / "old.benzer", tmp_path / "older.benzer"
    with Index.open(path, IndexSettings(threshold=0.6, recall=0.9)) as index:
        index.add([("x", TEXTS["a"]), (7, TEXTS[7])])
    with Index.open(second, IndexSettings(threshold=0.6)) as index:
        index.add([("y", TEXTS["d"])])
    with ServedIndex.open(path) as served, ServedIndex.open(second) as other:
        found = search(JobRequest(), spooled(*ROWS), against={"old": served, "older": other})
        with Index.open(path, mode="read") as one, Index.open(second, mode="read") as two:
            expected = find_duplicates(
                [Document(id, text) for id, text in TEXTS.items()],
                threshold=0.6,
                recall=0.9,
                against=[one, two],
            )
        assert found.settings.against == ("old", "older")
        assert {id: (*one, one.kept_in) for id, one in found.removed.items()} == {
            id: (*one, None if one.kept_in is None else Path(one.kept_in).stem)
            for id, one in expected.removed.items()
        }
        both = sides.compared_with_old(found, "a", "old", Document("x", TEXTS["a"]), "x", 9)
        assert (both["similarity"], both["right"]["contents"]) == (1.0, {"text": "the quick"})
        assert both["fields"]["text"]["evidence"]["coverage_a"] == 1.0
        with pytest.raises(Refusal, match="has no match between document 'y' of the index 'old'"):
            sides.compared_with_old(found, "a", "old", Document("y", TEXTS["d"]), "y", 9)


@pytest.mark.parametrize("stage", ["read", "sketch", "against", "candidates", "verify", "measure"])
def test_a_job_can_be_ended_in_every_stage(stage: str, tmp_path: Path) -> None:
    with Index.open(tmp_path / "old.benzer", IndexSettings(threshold=0.6)) as index:
        index.add([("x", TEXTS["a"])])
    seen = []

    def told(now: str, done: int, total: int | None) -> None:
        seen.append(now)
        if now == stage and (now != "against" or total is None):  # not only when the stage is over
            raise Cancelled

    with ServedIndex.open(tmp_path / "old.benzer") as served:
        task = Search(JobRequest(measure=True), served, None, {"old": served})
        with pytest.raises(Cancelled):
            task.run(told)
    assert seen[-1] == stage


def test_malformed_rows_fail_a_job_or_are_set_aside_with_their_numbers() -> None:
    rows = [ROWS[0], b"\n", b"no JSON\n", b'{"id": "n"}\n', b'{"id": "m", "text": 7}\n', b"\xff\n", ROWS[1]]
    for word in (b"", b'{"id": "f", "fields": {"text": 7}}\n', b'{"id": "g", "fields": {"tex": ""}}\n'):
        with pytest.raises(MalformedRowError, match="upload line 3"):
            search(JobRequest(), spooled(*rows, word))
        found = search(JobRequest(on_error="skip"), spooled(*rows, word))
        assert [row.row for row in found.malformed] == [3, 4, 5, 6, *([8] if word else [])]
        assert found.kept == ["a"]
    found = search(
        JobRequest(on_error="skip"), [*ROWS, 7, {"id": True, "text": ""}, {"text": "by a made id"}]
    )
    assert [(row.row, row.reason) for row in found.malformed] == [
        (7, "not a JSON object, but a number"), (8, 'the id in column "id" is neither text nor an integer'),
    ]  # fmt: skip
    assert "upload:9" in found.kept


def test_a_text_is_never_taken_for_the_path_of_a_picture(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    PIL.Image.new("L", (64, 64)).save(secret)
    schema = Schema(photo=Image())
    given = {"base64": b64encode(secret.read_bytes()).decode()}
    rows = [
        {"id": 1, "photo": str(secret)},
        {"id": 2, "fields": {"photo": str(secret)}},
        {"id": 3, "photo": given},
    ]
    for uploaded in (spooled(*rows), rows):
        found = search(JobRequest(schema=schema, on_error="skip"), uploaded)
        assert (found.kept, [row.row for row in found.malformed]) == ([3], [1, 2])
        assert all("must be a file" in row.reason for row in found.malformed)


@pytest.mark.parametrize(
    "query, message",
    [
        (JobRequest(threshold=0), "threshold must be"),
        (JobRequest(recall=2), "recall must be"),
        (JobRequest(keep="best"), "keep must be"),
        (JobRequest(keep="largest:stars"), "needs the column 'stars'"),
        (JobRequest(recall=1.0, method="lsh"), "got recall=1: use method 'exact'"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_waits(query: JobRequest, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        check(query, IndexSettings(), {})


def test_indexes_that_compare_otherwise_are_refused_before_the_job_waits() -> None:
    with Index.open("memory:", IndexSettings(Schema(text=Text(shingle_size=5)))) as index:
        with pytest.raises(Refusal, match="other compares text") as refusal:
            check(JobRequest(schema=Schema()), None, {"other": index})
        assert refusal.value.status == 422
