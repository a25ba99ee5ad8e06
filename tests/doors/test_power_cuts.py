"""After a power cut the old result or the new one is there, whole; else the checkpoint still is.

Each scenario runs a real command once and records its system calls. The disk is then rebuilt as it may be after a
power cut at many moments (`power_cuts` describes the model), and from some of these states the command is run again.
For 500 moments instead of 60: BENZER_POWER_CUTS=500 pytest tests/doors/test_power_cuts.py
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import pytest

from benzer import Index
from benzer.pipeline import memory, work
from benzer.tables.partial import OLD
from tests.corpora import collection
from tests.doors.power_cuts import Disk, Event, Folder, Tree, on_disk, put_on_disk, read_log
from tests.doors.shell import run

CUTS = int(os.environ.get("BENZER_POWER_CUTS", "24"))
RESUMED = max(3, CUTS // 20)
PARTS = 100, 40
"""How many documents and pairs are in a part of the checkpoint: few, so that there are many parts."""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="system calls are recorded by LD_PRELOAD")
SOURCE = Path(__file__).with_name("disk_log.c")
CHILD = """
import os, sys
from benzer.pipeline import memory, work
from benzer.tables import partial
memory.TOGETHER, work.VERIFIED_TOGETHER = {parts}
{patch}
from benzer.cli import main
main(sys.argv[1:])
"""
PORTABLE = "partial.exchange = lambda path, other: False"


@dataclass(frozen=True)
class Scenario:
    """A command whose output is `out`, in a folder with docs.jsonl; `first` is what makes an old output."""

    name: str
    command: tuple[str, ...]
    first: tuple[str, ...] = ()
    patch: str = ""


DEDUPE = ("dedupe", "docs.jsonl", "--output", "out", "--threshold", "0.5", "--checkpoint", "saved")
REPLACE = (*DEDUPE, "--replace"), ("dedupe", "docs.jsonl", "--output", "out", "--threshold", "0.9")
CONTAINED = ("contained", "docs.jsonl", "--output", "out.jsonl", "--replace")
EXPORT = ("export", "../docs.benzer", "out.jsonl.gz")
SCENARIOS = [
    Scenario("a new folder", DEDUPE),
    Scenario("a folder replaced in one step", *REPLACE),
    Scenario("a folder replaced in two steps", *REPLACE, patch=PORTABLE),
    Scenario("a file replaced", CONTAINED, (*CONTAINED, "--threshold", "0.9")),
    Scenario("a new file", EXPORT),
]
MUTANTS = {
    "contents are not synced": "partial.sync_tree = lambda path: None",
    "names are not synced": "partial.sync_folder = lambda path: None",
    "nothing is synced": "os.fsync = lambda descriptor: None",
}


@dataclass(frozen=True)
class Recording:
    """A command as it ran: the disk before, its folder before and after, and the system calls between."""

    scenario: Scenario
    start: Disk
    old: Tree
    new: Tree
    events: list[Event]

    def cuts(self, number: int) -> Iterator[tuple[int, Tree, Tree]]:
        """Moments, what a power cut may leave then, and what of the checkpoint was certain before."""
        chance = random.Random(self.scenario.name)
        placed = next(
            i for i, event in enumerate(self.events) if event.what in "RX" and event.other.startswith("out")
        )
        # Half of them while the output gets its name and after that, half at any time.
        moments = Counter(
            chance.randint(max(0, placed - 5) * (i % 2), len(self.events)) for i in range(number)
        )
        disk, promised = deepcopy(self.start), {}
        for moment in range(len(self.events) + 1):
            for _ in range(moments[moment]):
                yield moment, disk.after_cut(chance), promised
            if moment < len(self.events):
                disk.do(self.events[moment])
                promised = {**promised, **acknowledged(disk)}


def acknowledged(disk: Disk) -> Tree:
    """The parts of a checkpoint that are certain to be there."""
    saved = disk.root.names().get("saved")
    if not isinstance(saved, Folder) or disk.root.names(disk.root.certain).get("saved") is not saved:
        return {}
    parts = saved.names(saved.certain)
    return {
        f"saved/{name}": node.certain
        for name, node in parts.items()
        if name.endswith((".npz", ".json")) and not isinstance(node, Folder)
    }


def output_in(files: Tree, place: str = "out") -> Tree:
    """The output among the files of a folder."""
    return {path: content for path, content in files.items() if path.split("/")[0].startswith(place)}


def check(recording: Recording, left: Tree, promised: Tree) -> None:
    """What is left is the new output; or the old one, or none, and then the acknowledged checkpoint."""
    assert left["docs.jsonl"] == recording.old["docs.jsonl"]
    output, old, new = (output_in(files) for files in (left, recording.old, recording.new))
    if output == new:
        return
    if output != old:
        assert output == {}, "the output is neither the old nor the new one, nor none"
        assert recording.scenario.patch == PORTABLE, "the old output is gone"
        (hidden,) = (path for path in left if path.startswith(".out.partial-") and path.endswith(f"/{OLD}"))
        moved = {f"out{path.removeprefix(hidden)}": content for path, content in left.items()}
        assert {path: moved[path] for path in old} == old, "the old output was moved aside, and is not whole"
    missing = [path for path, content in promised.items() if left.get(path) != content]
    assert not missing, f"no result, and the checkpoint has lost {missing}"


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that records system calls."""
    library = tmp_path_factory.mktemp("recorder") / "disk_log.so"
    options = ["-O1", "-shared", "-fPIC", "-ldl", "-lpthread"]
    command = [os.environ.get("CC", "cc"), "-o", library, SOURCE, *options]
    subprocess.run(command, check=True)
    return library


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents, beside an index of them."""
    folder = tmp_path.resolve() / "folder"
    folder.mkdir()
    texts = collection(11, 400)
    lines = (json.dumps({"id": one, "text": text}) + "\n" for one, text in texts.items())
    (folder / "docs.jsonl").write_text("".join(lines), encoding="utf-8")
    with Index.open(tmp_path / "docs.benzer") as index:
        index.add(texts)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(memory, "TOGETHER", PARTS[0])
    monkeypatch.setattr(work, "VERIFIED_TOGETHER", PARTS[1])
    return folder


def record(scenario: Scenario, folder: Path, recorder: Path, patch: str = "") -> Recording:
    """Run a command once, and record what it does in its folder."""
    if scenario.first:
        run(*scenario.first)
    start, old, log = Disk(folder), on_disk(folder), folder.with_name("log")
    environment = {
        **os.environ, "LD_PRELOAD": str(recorder), "DISK_LOG": str(log), "DISK_ROOT": str(folder),
    }  # fmt: skip
    code = CHILD.format(parts=PARTS, patch=patch or scenario.patch)
    command = [sys.executable, "-c", code, *scenario.command]
    subprocess.run(command, check=True, timeout=120, env=environment, stdout=subprocess.DEVNULL)
    recording = Recording(scenario, start, old, on_disk(folder), read_log(log, folder))
    disk = deepcopy(start)
    for event in recording.events:
        disk.do(event)
    assert disk.seen() == recording.new, "the recording is not complete"
    return recording


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_after_a_power_cut_the_result_is_whole_or_the_checkpoint_is_there(
    scenario: Scenario, folder: Path, recorder: Path
) -> None:
    recording = record(scenario, folder, recorder)
    unfinished, finished = [], []
    for moment, left, promised in recording.cuts(CUTS // len(SCENARIOS)):
        try:
            check(recording, left, promised)
        except AssertionError as error:
            raise AssertionError(
                f"after {moment} of {len(recording.events)} system calls: {error}"
            ) from error
        is_new = output_in(left) == output_in(recording.new)
        (finished if is_new else unfinished).append(left)
    assert unfinished
    may_follow = finished if "--replace" in scenario.command else []
    chance = random.Random(1)
    resumed = [
        left for some in (unfinished, may_follow) for left in chance.sample(some, min(RESUMED, len(some)))
    ]
    for number, left in enumerate(resumed):
        again = folder.with_name(f"again-{number}")
        put_on_disk(left, again)
        os.chdir(again)
        run(*scenario.command)
        assert plain(on_disk(again)) == plain(recording.new), "the next run ends as if nothing had been"


def plain(files: Tree) -> Tree:
    """Files without what differs from run to run: the times in the summary, and compressed bytes."""
    return {
        path: None if path.endswith((".gz", "summary.json")) else content for path, content in files.items()
    }


@pytest.mark.parametrize("patch", MUTANTS.values(), ids=list(MUTANTS))
@pytest.mark.parametrize("scenario", [SCENARIOS[0], SCENARIOS[1]], ids=lambda scenario: scenario.name)
def test_the_model_notices_what_is_not_synced(
    scenario: Scenario, patch: str, folder: Path, recorder: Path
) -> None:
    recording = record(scenario, folder, recorder, patch)
    lost = 0
    for _, left, promised in recording.cuts(100):
        try:
            check(recording, left, promised)
        except AssertionError:
            lost += 1
    assert lost
