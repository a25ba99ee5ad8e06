"""How much memory does a file of a single long line take?"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

LINE = 40_000_000  # more than a run measures its recall for without being asked, which takes sets
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["".join(random.Random(number).choices(LETTERS, k=3 + number % 7)) for number in range(5_000)]


def words() -> str:
    return " ".join(random.Random(1).choices(WORDS, k=10_000)) + " "


def escaped() -> str:
    return "\\n".join(random.Random(1).choices(WORDS, k=10_000)) + ' \\"Σέ\\" '


def ideographs() -> str:
    return "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x5E00), k=20_000)))


def blob() -> str:
    return "".join(random.Random(1).choices(LETTERS, k=60_000))


PEAK = """
import os, sys
command = [sys.executable, "-m", "benzer", *sys.argv[1:]]
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
_, status, usage = os.wait4(os.posix_spawn(sys.executable, command, os.environ, file_actions=quiet), 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak(*arguments: str) -> int:
    """Bytes that a run of the command line takes at most.

    A small process starts it: Linux counts what the starting process held as memory of the run.
    """
    command = [sys.executable, "-S", "-E", "-c", PEAK, *arguments]
    return int(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> int:
    """What a run takes whose file is tiny."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "tiny.jsonl").write_text('{"text": "a few words"}\n')
    return peak("dedupe", str(folder / "tiny.jsonl"), "--output", str(folder / "out"))


@pytest.mark.parametrize(
    "make, shingle",
    [
        (words, "word:3"),
        (escaped, "word:3"),
        (ideographs, "word:3"),
        (ideographs, "char:5"),
        (blob, "char:5"),
    ],
)
def test_a_long_line_takes_four_times_its_size(make: object, shingle: str, tmp_path: Path, base: int) -> None:
    assert callable(make)
    part = make()
    content = ('{"text": "' + part * (LINE // len(part.encode())) + '"}\n').encode()
    (tmp_path / "long.jsonl").write_bytes(content)
    used = peak(
        "dedupe", str(tmp_path / "long.jsonl"), "--shingle", shingle, "--output", str(tmp_path / "out")
    )
    assert used - base < 4 * len(content)
    kept = (tmp_path / "out" / "kept.jsonl").read_bytes()
    assert kept == content


def test_a_compressed_long_line_takes_four_times_its_size(tmp_path: Path, base: int) -> None:
    content = ('{"text": "' + random.Random(1).randbytes(LINE).hex(" ", 4) + '"}\n').encode()
    (tmp_path / "long.jsonl.zst").write_bytes(zstandard.compress(content, 1))
    used = peak("dedupe", str(tmp_path / "long.jsonl.zst"), "--output", str(tmp_path / "out"))
    assert used - base < 4 * len(content)
