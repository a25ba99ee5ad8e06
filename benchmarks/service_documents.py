"""Short texts for the benchmark of the service; every fourth is nearly the same as an earlier one."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

WORDS = 20_000
LENGTHS = range(12, 28)
"""Words of a text."""


def texts(count: int, seed: int = 1) -> Iterator[str]:
    """Texts of some common words and many rare ones; the same for the same seed."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(WORDS)]
    kept: list[list[str]] = []
    for number in range(count):
        if number % 4 == 3:
            chosen = list(rng.choice(kept))
            chosen[rng.randrange(len(chosen))] = rng.choice(words)
        else:
            chosen = [words[int(WORDS * rng.random() ** 2)] for _ in range(rng.choice(LENGTHS))]
            kept = [*kept[-999:], chosen] if number % 40 == 0 else kept or [chosen]
        yield " ".join(chosen)


def write_documents(path: Path, count: int, seed: int = 1) -> int:
    """Write the texts as JSON lines with the ids 0, 1, …; returns the bytes of the file."""
    with path.open("w") as file:
        for number, text in enumerate(texts(count, seed)):
            file.write(json.dumps({"id": number, "fields": {"text": text}}) + "\n")
    return path.stat().st_size


def write_questions(path: Path, documents: Path, count: int, seed: int = 2) -> None:
    """Write queries: texts of the file with one word replaced."""
    rng = random.Random(seed)
    with documents.open() as file:
        lines = file.readlines()
    with path.open("w") as file:
        for line in rng.choices(lines, k=count):
            words = json.loads(line)["fields"]["text"].split()
            words[rng.randrange(len(words))] = "replaced"
            file.write(json.dumps({"text": " ".join(words), "limit": 10}) + "\n")
