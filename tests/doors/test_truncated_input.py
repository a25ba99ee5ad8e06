"""A file that is truncated while it is read ends the run with an error, never the process with a signal."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

SENTENCE = "live.jsonl changed while it was read: run again on the current file"
CHANGED = (SENTENCE, "live.jsonl has changed since it was read: run again on the current file")
STAGES = ("read", "sketch", "candidates", "verify")


def write_documents(path: Path, count: int) -> int:
    """Write documents of which each fourth is a near copy of the one before; return the size of the file."""
    rng = random.Random(5)
    with path.open("w") as file:
        for number in range(count):
            if number % 4 != 3:
                words = [f"w{rng.randrange(10**6)}" for _ in range(40)]
            file.write(json.dumps({"id": f"d{number}", "text": " ".join([*words, f"x{number}"])}) + "\n")
    return path.stat().st_size


def rows_of(output: Path) -> dict[str, bytes]:
    """The tables and copies of a result."""
    return {file.name: file.read_bytes() for file in output.rglob("*.jsonl")}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_a_file_truncated_after_a_stage_is_an_error(tmp_path: Path) -> None:
    """One process runs into them one after another, and goes on."""
    path = tmp_path / "live.jsonl"
    size = write_documents(path, 5000)
    cuts = [(stage, left) for stage in STAGES for left in (size // 3, size - 100)]
    ended = run("-m", "tests.doors.truncation_child", str(path), json.dumps(cuts))
    assert (ended.returncode, ended.stderr) == (0, "")
    said = ended.stdout.splitlines()
    assert len(said) == len(cuts)
    assert all(line.endswith(SENTENCE) for line in said), said


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A long file, and the rows of its whole result."""
    folder = tmp_path_factory.mktemp("live")
    write_documents(folder / "live.jsonl", 60_000)
    run(
        "-m",
        "benzer",
        "dedupe",
        str(folder / "live.jsonl"),
        "--no-measure",
        "--output",
        str(folder / "whole"),
    )
    return folder / "live.jsonl", rows_of(folder / "whole")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc for the map of the file")
@pytest.mark.parametrize("seed", range(int(os.environ.get("BENZER_TRUNCATIONS", "3"))))
def test_a_file_truncated_at_a_random_moment_is_an_error(
    seed: int, live: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> None:
    path, output = tmp_path / "live.jsonl", tmp_path / "out"
    shutil.copy(live[0], path)
    size = path.stat().st_size
    command = [
        sys.executable, "-m", "benzer", "dedupe", str(path), "--no-measure", "--output", str(output),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            maps = Path(f"/proc/{running.pid}/maps")
            while running.poll() is None and path.name not in maps.read_text():
                time.sleep(0.002)
            time.sleep(random.Random(seed).uniform(0, 0.25))
            os.truncate(path, random.Random(seed).randrange(size // 2))
            _, error = running.communicate(timeout=120)
        finally:
            running.kill()
    if running.returncode == 0:  # nothing was left to be read
        assert rows_of(output) == live[1] != {}
    else:
        assert running.returncode == 2, error
        assert error.strip().endswith(CHANGED), error
        assert not output.exists()


def test_faulthandler_still_reports_other_bus_errors(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    write_documents(path, 100)
    script = """
import faulthandler, mmap, os, sys
from benzer import find_duplicates
if sys.argv[2] == "before":
    faulthandler.enable()
find_duplicates(sys.argv[1])
if sys.argv[2] == "after":
    faulthandler.enable()
    find_duplicates(sys.argv[1])
with open(sys.argv[1], "r+b") as file:
    lost = mmap.mmap(file.fileno(), 0)
    os.truncate(sys.argv[1], 0)
    lost[0]
"""
    for order in ("before", "after", "never"):
        write_documents(path, 100)
        ended = run("-c", script, str(path), order)
        assert ended.returncode == -7, (order, ended)  # SIGBUS
        assert ("Fatal Python error: Bus error" in ended.stderr) == (order != "never"), (order, ended)
