"""Results on stdout, talk on stderr, colour on a terminal only; a stopped run leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.doors.shell import DOCUMENTS, FOX, on_terminal, one_line, process, run

ESC = "\x1b"


def test_no_colour_and_no_progress_in_a_pipe(folder: Path) -> None:
    for arguments in (["dedupe", "docs.jsonl", "--output", "clean"], ["tune"], ["compare", "a.txt", "b.txt"]):
        done = process(*arguments)
        assert done.returncode == 0
        assert ESC.encode() not in done.stdout + done.stderr
        assert done.stderr == b""


def test_progress_is_drawn_on_a_terminal_and_results_stay_clean(folder: Path) -> None:
    seen, stdout = on_terminal("stderr", "dedupe", "docs.jsonl", "--output", "clean", "--json")
    assert "━" in seen
    assert "Traceback" not in seen
    assert json.loads(stdout)["counts"]["read"] == 6


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_shows_two_texts_side_by_side(folder: Path, columns: int) -> None:
    seen, stderr = on_terminal("stdout", "compare", "a.txt", "b.txt", columns=columns)
    assert stderr == b""
    assert f"{ESC}[32mthe quick brown" in seen
    assert f"{ESC}[2m comes{ESC}[0m" in seen
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen).splitlines()
    assert re.search(r"the quick brown .* the quick brown", "\n".join(plain))
    assert max(map(len, plain)) <= columns


def test_a_terminal_marks_what_differs_inside_a_passage(folder: Path) -> None:
    changed = FOX.replace("sleeps", "dozes")
    seen, _ = on_terminal("stdout", "compare", "--texts", FOX, changed, columns=120)
    assert f"{ESC}[1;33msleeps{ESC}[0m" in seen
    assert f"{ESC}[1;33mdozes{ESC}[0m" in seen
    assert "Passage 1: 19 words equal, 1 difference" in seen
    whole, _ = on_terminal("stdout", "compare", "--texts", f"Before. {FOX}", changed, "--full", columns=120)
    assert f"{ESC}[2mBefore. {ESC}[0m{ESC}[32mthe quick" in whole
    assert "Passage" not in whole


def test_control_characters_of_a_document_do_not_reach_the_terminal(folder: Path) -> None:
    (folder / "evil.jsonl").write_text(
        json.dumps({"id": f"{ESC}[31m", "text": f"{FOX} {ESC}]0;title\x07"}) + "\n"
    )
    run("index", "evil.benzer", "evil.jsonl", "--threshold", "0.5")
    assert ESC not in run("search", "evil.benzer", FOX).stdout


def test_a_closed_pipe_is_no_traceback(folder: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m benzer tune --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60, check=False)
    assert done.stdout == b"{"
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [
    ["dedupe", "no.jsonl", "--output", "clean"],
    ["dedupe", "docs.jsonl"],
    ["dedupe", "docs.jsonl", "--output", "clean", "--shingle", "word:0"],
    ["dedupe", "docs.jsonl", "--output", "clean", "--text", "body"],
    ["dedupe", "docs.jsonl", "--output", "clean", "--keep", "best"],
        ["dedupe", "docs.jsonl", "--output", "clean", "--threshold", "2"],
    ["dedup"],
    ["--loud"],
])  # fmt: skip
def test_wrong_usage_and_input_are_one_line_and_2(folder: Path, arguments: list[str]) -> None:
    one_line(run(*arguments, status=2))
    assert not (folder / "clean").exists()


@pytest.mark.parametrize("wanted, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_a_run_leaves_nothing_behind(folder: Path, wanted: signal.Signals, status: int) -> None:
    os.mkfifo(folder / "endless.jsonl")
    arguments = ["dedupe", "endless.jsonl", "--format", "jsonl", "--output", "clean"]
    running = subprocess.Popen(
        [sys.executable, "-m", "benzer", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with (folder / "endless.jsonl").open("wb") as endless:
        endless.write(json.dumps(DOCUMENTS[0]).encode() + b"\n")
        endless.flush()
        time.sleep(0.2)  # it has opened the pipe by now, since we could
        running.send_signal(wanted)
        stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == status
    assert stdout == b""
    assert b"Traceback" not in stderr
    assert {path.name for path in folder.iterdir()} == {
        "docs.jsonl",
        "broken.jsonl",
        "a.txt",
        "b.txt",
        "endless.jsonl",
    }


def test_stopping_the_making_of_an_index_leaves_nothing_behind(folder: Path) -> None:
    os.mkfifo(folder / "endless.jsonl")
    arguments = ["index", "new.benzer", "docs.jsonl", "endless.jsonl", "--format", "jsonl"]
    running = subprocess.Popen([sys.executable, "-m", "benzer", *arguments], stderr=subprocess.PIPE)
    with (folder / "endless.jsonl").open("wb"):
        time.sleep(0.2)  # it has opened the pipe by now, since we could
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert stderr.strip() == b"benzer: stopped; no partial output was left"
    assert not [path.name for path in folder.iterdir() if "new.benzer" in path.name]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a device that is always full")
@pytest.mark.parametrize("arguments", [["tune"], ["tune", "--json"], ["dedupe", "docs.jsonl", "--dry-run"]])
def test_a_full_disk_behind_stdout_is_told(folder: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "benzer", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == 2
    assert (
        b"cannot write standard output (No space left on device): free some space, or redirect" in done.stderr
    )
    assert done.stderr.count(b"\n") == 1
