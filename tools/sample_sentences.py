"""Print random sentences of the documentation, the help texts, the error messages and the pages.

`python -m tools.sample_sentences --count 10 --seed 1` prints 10 sentences of each kind of text, with their places,
for somebody who reads them without their context and marks those that are hard to understand.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

from tools.check_prose import files
from tools.prose_texts import texts

ROOT = Path(__file__).resolve().parent.parent
PLACES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "python/benzer"]
LEAST_WORDS = 3


def kind_of(path: Path, kind: str) -> str:
    """The heading that a text is listed under: the folder of a Markdown page, otherwise its kind."""
    if kind != "markdown":
        return kind
    name = path.relative_to(ROOT)
    return name.parts[1] if len(name.parts) > 2 else name.name if len(name.parts) == 1 else "docs"


def sentences(content: str) -> Iterator[tuple[int, str]]:
    """The sentences of a text, each with the number of line ends before it.

    >>> list(sentences("One short sentence. Another short sentence."))
    [(0, 'One short sentence.'), (0, 'Another short sentence.')]
    >>> list(sentences("Use a color, e.g. red."))
    [(0, 'Use a color, e.g. red.')]
    """
    for match in re.finditer(
        r"[^\s#|>*-](?:[^.!?|\n]|[.!?](?!\s)|(?<=e\.g)\.|(?<=i\.e)\.|\n(?!\s*(?:\n|[#|>*-])))*[.!?]?", content
    ):
        sentence = " ".join(match[0].split())
        if len(sentence.split()) >= LEAST_WORDS:
            yield content.count("\n", 0, match.start()), sentence


def by_kind() -> dict[str, list[str]]:
    """All sentences with their places, by kind of text."""
    result: dict[str, list[str]] = {}
    for path in files(PLACES):
        for text in texts(path):
            for offset, sentence in sentences(text.content):
                place = f"{path.relative_to(ROOT)}:{text.line + offset}"
                result.setdefault(kind_of(path, text.kind), []).append(f"{sentence}  ({place})")
    return result


def run(arguments: list[str] | None = None) -> None:
    """Print a sample of each kind of text."""
    parser = argparse.ArgumentParser(description="Print random sentences of each kind of text.")
    parser.add_argument("--count", type=int, default=10, help="Sentences per kind.")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the sample.")
    given = parser.parse_args(arguments)
    generator = random.Random(given.seed)
    for kind, lines in sorted(by_kind().items()):
        print(f"\n{kind}")
        print("\n".join(generator.sample(lines, min(given.count, len(lines)))))


if __name__ == "__main__":
    run()
