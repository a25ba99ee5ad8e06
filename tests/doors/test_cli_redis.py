"""An index in Redis is made, asked and described by its URL, as one in a file is by its path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors.shell import FOX, answer, one_line, run
from tests.redis_server import RedisServer, free_port, shared_server


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where no other test keeps an index."""
    return f"{shared_server().url}?prefix=cli-{tmp_path}"


def test_an_index_in_redis_answers_as_one_in_a_file(folder: Path, url: str) -> None:
    in_file = answer("index", "docs.benzer", "docs.jsonl", "--threshold", "0.5")
    in_redis = answer("index", url, "docs.jsonl", "--threshold", "0.5")
    assert {**in_redis, "seconds": 0, "index": ""} == {**in_file, "seconds": 0, "index": ""}
    assert in_redis["index"] == url
    for question in ([FOX], ["--id", "fox"], ["--file", "a.txt", "--limit", "2"], [FOX, "--candidates"]):
        found = [{**answer("search", place, *question), "index": ""} for place in ("docs.benzer", url)]
        assert found[0] == found[1]
        assert run("search", url, *question).stdout == run("search", "docs.benzer", *question).stdout
    assert answer("info", url)["settings"] == answer("info", "docs.benzer")["settings"]
    assert url in run("info", url).stdout
    assert [path.name for path in folder.iterdir() if "redis" in path.name] == []


def test_an_index_in_redis_is_added_to_with_its_own_settings(folder: Path, url: str) -> None:
    (folder / "sets.jsonl").write_text('{"id": 1, "tags": ["a", "b"]}\n{"id": 2, "tags": ["b", "a"]}\n')
    run("index", url, "sets.jsonl", "--values", "tags")
    assert answer("index", url, "sets.jsonl")["new"] == 0
    assert answer("search", url, "--id", "1")["matches"][0]["id"] == 2
    assert "was created with --threshold 0.8, got 0.5" in one_line(
        run("index", url, "sets.jsonl", "--threshold", "0.5", status=2)
    )


def test_two_indexes_of_one_server_do_not_know_each_other(folder: Path, url: str) -> None:
    run("index", f"{url}-texts", "docs.jsonl")
    run("index", f"{url}-short", "docs.jsonl", "--shingle", "char:5")
    (folder / "more.jsonl").write_text(json.dumps({"id": "more", "text": "some more text"}) + "\n")
    assert answer("index", f"{url}-texts", "more.jsonl")["documents"] == 7
    assert answer("info", f"{url}-short")["documents"] == 6


def test_a_failed_call_leaves_the_documents_in_redis_as_they_were(folder: Path, url: str) -> None:
    run("index", url, "docs.jsonl")
    (folder / "more.jsonl").write_text('{"id": "new", "text": "some new text here"}\n{"text": ')
    one_line(run("index", url, "more.jsonl", status=2))
    assert answer("info", url)["documents"] == 6


def test_what_is_not_there_is_said_to_be_not_there(folder: Path, url: str) -> None:
    for command in (["search", url, FOX], ["info", url]):
        assert "no such index" in one_line(run(*command, status=2))
    closed = f"redis://127.0.0.1:{free_port()}/0"
    assert closed in one_line(run("search", closed, FOX, status=2))
    assert "no storage for http://" in one_line(run("info", "http://127.0.0.1/0", status=2))


def test_a_password_stays_out_of_what_is_printed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    try:
        server.client().execute_command("ACL SETUSER reader on >opensesame ~* &* +@all")
        address = f"redis://reader:opensesame@127.0.0.1:{server.port}/0"
        results = [
            run("search", address, FOX, status=2), run("index", address, "docs.jsonl", "--json"),
            run("search", address, FOX, "--json"), run("info", address), run("info", address, "--json"),
            run("index", address, "docs.jsonl", "--seed", "7", status=2),
            run("info", address.replace("same", "Sesame"), status=2),
        ]  # fmt: skip
    finally:
        server.kill()
    assert all("opense" not in result.output.lower() for result in results)
    assert all("127.0.0.1" in result.output for result in results[:-2])


def test_a_failed_first_call_leaves_no_index_behind(folder: Path, url: str) -> None:
    (folder / "broken.jsonl").write_text('{"id": "new", "text": "some new text here"}\n{"text": ')
    one_line(run("index", url, "missing.jsonl", status=2))
    one_line(run("index", url, "broken.jsonl", status=2))
    assert "no such index" in one_line(run("info", url, status=2))
    assert answer("index", url, "docs.jsonl", "--threshold", "0.5")["documents"] == 6


@pytest.mark.parametrize("password", ["pa/ss", "pa#ss", "pa?ss", "pa@ss", "pa/s:s"])
def test_a_password_that_is_not_encoded_is_not_printed_either(folder: Path, password: str) -> None:
    location = f"redis://user:{password}@127.0.0.1/0"
    for command in (["info", location], ["search", location, FOX], ["index", location, "docs.jsonl"]):
        result = run(*command, status=2)
        assert "write @ as %40" in one_line(result)
        assert "pa" + password[2] not in result.output
        assert password[2:] not in result.output
