"""A command that is killed while it changes an index or writes a file leaves all as it was, or all as it should be."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from benzer import Schema, ValueSet
from benzer.cli import main
from benzer.index import Index, IndexSettings
from benzer.tables.output import hidden
from tests.doors.shell import run

COUNT, KILLS = 4_500, 4
SETTINGS = IndexSettings(Schema(tags=ValueSet()), threshold=0.5)
COMMANDS = {
    "merge": ["merge", "target.benzer", "source.benzer"],
    "import": ["import", "target.benzer", "source.jsonl"],
    "evict": ["evict", "target.benzer", "--unseen", "1970-01-02"],
    "compact": ["compact", "target.benzer"],
    "export": ["export", "source.benzer", "out.jsonl.zst", "--replace"],
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index to be changed, another one, what it exports, and an older export in its place."""
    folder = tmp_path_factory.mktemp("prepared")
    values = np.random.default_rng(9).integers(0, 2**40, (COUNT, 8)).tolist()
    with Index.open(folder / "source.benzer", SETTINGS) as source:
        source.add(({"id": at, "tags": tags} for at, tags in enumerate(values)), seen_at=10**9)
        source.commit()
        source.export(folder / "source.jsonl")
    with Index.open(folder / "target.benzer", SETTINGS) as target:
        target.add(
            ({"id": at, "tags": tags} for at, tags in enumerate(values[: COUNT // 2], COUNT // 2)), seen_at=5
        )
        target.commit()
        target.remove(range(COUNT // 2, COUNT // 2 + 100))
    (folder / "out.jsonl.zst").write_bytes(b"an older export")
    return folder


def state(folder: Path) -> tuple[list[Any], bytes]:
    """What the index to be changed holds, once it was found whole, and what was exported."""
    with Index.open(folder / "target.benzer", mode="read") as target:
        target.check()
        held = [(one.id, one.fields["tags"]) for one in target.documents()]
    return held, (folder / "out.jsonl.zst").read_bytes()


def ran(folder: Path, command: list[str], killed_after: float = 0) -> float:
    """Run a command in a child that is killed once it has used so much processor time; the time that it used."""
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, killed_after)
        os._exit(CliRunner().invoke(main, command).exit_code)
    _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) in ((0, -signal.SIGPROF) if killed_after else (0,))
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_that_is_killed_at_any_moment_has_done_all_or_nothing(
    command: list[str], prepared: Path, tmp_path: Path
) -> None:
    shutil.copytree(prepared, tmp_path / "whole")
    seconds = ran(tmp_path / "whole", command)
    before, after = state(prepared), state(tmp_path / "whole")
    assert command[0] == "compact" or before != after
    for number, share in enumerate(np.random.default_rng(3).uniform(0, 1, KILLS).tolist()):
        folder = tmp_path / str(number)
        shutil.copytree(prepared, folder)
        ran(folder, command, share * seconds)
        assert state(folder) in (before, after)
        ran(folder, command)
        assert state(folder) == after


def test_what_a_killed_process_of_the_same_number_has_left_is_not_taken_for_the_beginning(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container a command often has the number of the one that was killed before it."""
    shutil.copytree(prepared, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    shutil.copy("target.benzer", hidden(Path("new.benzer"), "partial"))
    with Index.open(hidden(Path("new.benzer"), "partial")) as left:
        left.add({"left over": {"tags": [1]}})
    run("import", "new.benzer", "source.jsonl")
    with Index.open("new.benzer", mode="read") as index:
        assert list(index) == list(range(COUNT))
    hidden(Path("again.jsonl"), "partial").write_bytes(b"left over")
    run("export", "new.benzer", "again.jsonl")
    assert Path("again.jsonl").read_bytes() == Path("source.jsonl").read_bytes()
