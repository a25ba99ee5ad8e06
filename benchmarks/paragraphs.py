"""Many short real documents: paragraphs of the labelled text sets, in a fixed order."""

from __future__ import annotations

import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SETS = ("rfc", "django_docs", "licenses", "debian_desc_en", "civil_codes_ocr")
_BLANK_LINES = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`id` is the document's id, "#", and the paragraph's number in it."""

    id: str
    text: str


def sample(folder: Path, count: int, seed: int = 0) -> list[Paragraph]:
    """`count` paragraphs drawn without replacement from all sets, or fewer if the sets contain fewer."""
    every = [paragraph for name in SETS for paragraph in _of_set(folder / name / "docs.jsonl.xz")]
    return random.Random(seed).sample(every, min(count, len(every)))


def made(chosen: Sequence[Paragraph], count: int, seed: int = 0) -> list[Paragraph]:
    """`count` paragraphs: the given ones, then variations of them with the same length and words.

    Half of the words of each variation are drawn from all paragraphs, so that it is not similar to any other.
    """
    rng = random.Random(seed)
    words = [word for paragraph in chosen[:20_000] for word in paragraph.text.split()]
    found = list(chosen[:count])
    for number in range(len(found), count):
        source = chosen[number % len(chosen)]
        own = source.text.split()
        drawn, stays = rng.choices(words, k=len(own)), rng.getrandbits(len(own))
        mixed = (own[at] if stays >> at & 1 else drawn[at] for at in range(len(own)))
        found.append(Paragraph(f"{source.id}/{number // len(chosen)}", " ".join(mixed)))
    return found


def write(paragraphs: list[Paragraph], path: Path) -> None:
    with path.open("w", encoding="utf-8") as sink:
        for paragraph in paragraphs:
            sink.write(json.dumps({"id": paragraph.id, "text": paragraph.text}, ensure_ascii=False) + "\n")


def read(path: Path) -> list[Paragraph]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [Paragraph(**json.loads(line)) for line in lines]


def _of_set(file: Path, least_words: int = 8) -> Iterator[Paragraph]:
    with lzma.open(file, "rt", encoding="utf-8", newline="\n") as lines:
        for row in map(json.loads, lines):
            for number, text in enumerate(_BLANK_LINES.split(row["text"])):
                if len(text.split()) >= least_words:
                    yield Paragraph(f"{row['id']}#{number}", text.strip("\n"))
