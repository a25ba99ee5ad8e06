"""A batch run that keeps its finished parts, and is killed at a chosen moment (`test_resume`)."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from benzer import Index, IndexSettings, Options, find_duplicates
from benzer.pipeline import memory, work
from benzer.pipeline.checkpoint import Checkpoint
from tests.corpora import collection
from tests.results import all_of

SETTINGS = IndexSettings(threshold=0.4, recall=0.99)


def texts() -> dict[str, str]:
    """The documents, the same in every process."""
    return collection(11, 900)


def options(folder: Path) -> dict[str, Any]:
    """What the run is asked for; some documents lie in an older index."""
    return {"threshold": 0.4, "recall": 0.99, "options": Options(seed=3, checkpoint=folder / "saved")}


def make_index(folder: Path) -> None:
    """The older index, of documents with ids of their own."""
    old = {f"old-{one}": text for one, text in list(texts().items())[:200]}
    with Index.open(folder / "old.benzer", SETTINGS) as index:
        index.add(old)


def plain(result: Any) -> str:
    """Everything that a run answers, as text."""
    pairs, clusters, kept, removed, counts = all_of(result)
    told = sorted((*sorted(map(str, pair)), similarity) for pair, similarity in pairs.items())
    matches = result.table("old_matches")
    old = [list(matches["id"]), list(matches["old_id"]), matches["similarity"].tolist()]
    return json.dumps([told, sorted(clusters.items()), kept, sorted(removed.items()), counts, old])


def die() -> None:
    """As if the power went."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_in(seconds: float) -> None:
    """Die after some time, wherever the run is then."""
    timer = threading.Timer(seconds, die)
    timer.daemon = True
    timer.start()


def die_at(step: int) -> None:
    """Die at the n-th step of keeping a part: before it is written, half written, whole, renamed."""
    steps = iter(range(step, -1, -1))
    write = Checkpoint._write

    def tick() -> None:
        if next(steps) == 0:
            die()

    def watched(self: Checkpoint, name: str, fill: Any) -> None:
        def half(file: Any) -> None:
            fill(file)
            file.flush()
            size = file.tell()
            file.truncate(size // 2)
            tick()
            file.truncate(0)
            file.seek(0)
            fill(file)
            file.flush()
            tick()

        tick()
        write(self, name, half)
        tick()

    Checkpoint._write = watched  # type: ignore[method-assign]


def main(folder: Path, how: str, when: str) -> None:
    """Run in small parts, until done or dead; then say what came out, and which parts were made anew."""
    memory.TOGETHER, work.VERIFIED_TOGETHER = 100, 40
    made: list[str] = []
    part = Checkpoint.part

    def counted(self: Checkpoint, name: str, make: Any) -> Any:
        def noted() -> Any:
            made.append(name)
            return make()

        return part(self, name, noted)

    Checkpoint.part = counted  # type: ignore[method-assign]
    with Index.open(folder / "old.benzer", mode="read") as index:
        {"never": lambda _: None, "in": die_in, "at": lambda at: die_at(int(at))}[how](float(when))
        found = find_duplicates(texts(), against=index, **options(folder))
    (folder / "answer.json").write_text(plain(found), encoding="utf-8")
    (folder / "made.json").write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
