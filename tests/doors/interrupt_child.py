"""Native work that would take minutes, to be interrupted (`test_interrupts`)."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from benzer import Text
from benzer._native import Corpus, candidate_pairs, exact_join, write_json_lines
from benzer.fields import Schema

WORDS = [f"word{number}" for number in range(1000)]


def texts(count: int, length: int) -> Corpus:
    """Documents of some words each."""
    corpus = Corpus(Schema(text=Text()).readers())
    drawn = np.random.default_rng(5).integers(0, len(WORDS), (count, length))
    made = [" ".join(WORDS[word] for word in row) for row in drawn.tolist()]
    corpus.add(0, range(1, count + 1), [None] * count, [made])
    return corpus


def sketching() -> Callable[[], object]:
    """The signatures of largest size, by the slowest algorithm."""
    corpus = texts(16_000, 200)
    return lambda: corpus.sketch("kmins", "mixed", 60_000, 0, 1, 1, 2)


def verifying() -> Callable[[], object]:
    """Each of many large sets with each."""
    rng = np.random.default_rng(7)
    sets = [np.unique(rng.integers(0, 2**63, 20_000, dtype=np.uint64)) for _ in range(300)]
    corpus = Corpus(["hashes"])
    corpus.add(0, range(1, 301), [None] * 300, [sets])
    left, right = (np.tile(one.astype(np.uint32), 300) for one in np.triu_indices(300, 1))
    order = np.argsort(left, kind="stable")
    return lambda: corpus.similarity(left[order], right[order], [1.0], 2)


def joining() -> Callable[[], object]:
    """Sets of which each shares some elements with nearly all others, and enough with none."""
    rng = np.random.default_rng(9)
    tens = np.arange(0, 1000, 10, dtype=np.uint64)
    sets = tens + rng.integers(0, 10, (100_000, 100), dtype=np.uint64)
    offsets = np.arange(0, sets.size + 1, sets.shape[1])
    return lambda: exact_join(offsets, sets.ravel(), 0.8, 2)


def proposing() -> Callable[[], object]:
    """Band keys of which most occur a few times, again and again."""
    keys = np.random.default_rng(11).integers(1, 400_000, (1_000_000, 16), dtype=np.uint64)

    def run() -> None:
        while True:
            candidate_pairs(keys, 1000, 2)

    return run


def reading() -> Callable[[], object]:
    """A file, again and again."""
    path = sys.argv[2]
    with open(path, "wb") as file:
        file.writelines([b'{"text": "%s"}\n' % (b"some words " * 90)] * 200_000)

    def run() -> None:
        while True:
            Corpus(Schema(text=Text()).readers()).add_jsonl(
                source=0, name="big", path=path, data=None, columns=["text"], id_column=None, id_required=False,
                extra_column=None, first_row=1, stop_on_error=True, threads=2,
            )  # fmt: skip

    return run


def writing() -> Callable[[], object]:
    """A table of very many columns."""
    cells = np.arange(2_000_000, dtype=np.uint64)
    return lambda: write_json_lines("/dev/null", [(f'"{name}"', cells) for name in range(2000)], 2)


STAGES = {made.__name__: made for made in (sketching, verifying, joining, proposing, reading, writing)}

if __name__ == "__main__":
    work = STAGES[sys.argv[1]]()
    print("ready", flush=True)
    try:
        work()
        print("done")
    except KeyboardInterrupt:
        print("stopped")
