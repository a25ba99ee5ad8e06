"""A small compressed file cannot fill the memory, and a large one is read."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

import pytest
from zstandard import ZstdCompressor

from benzer import find_duplicates
from benzer.errors import InputError, MalformedRowError
from benzer.sources import expansion
from benzer.sources.compression import unpacked
from benzer.sources.expansion import ExpansionLimits
from benzer.sources.formats import HEAD_BYTES
from benzer.sources.streams import FileInput

COMPRESS = {
    ".gz": gzip.compress,
    ".zst": ZstdCompressor().compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files have small limits."""
    monkeypatch.setattr(expansion, "LEAST_IN_ALL", 1_000_000)
    monkeypatch.setattr(expansion, "LEAST_AT_ONCE", 200_000)


def compressed(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(COMPRESS[path.suffix](content))
    return str(path)


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize(
    "name, content",
    [
        ("line.jsonl", b'{"text": "' + b"a" * 400_000 + b'"}\n'),
        ("table.csv", b"id,text\n1," + b"a" * 400_000 + b"\n"),
        ("text.txt", b"a " * 200_000),
        ("row.jsonl", b'{"text": "short"}\n{"text": "' + b"a" * 400_000 + b'"}\n'),
    ],
)
def test_a_line_that_expands_too_far_is_refused(
    name: str, ending: str, content: bytes, tmp_path: Path
) -> None:
    source = compressed(tmp_path, name + ending, content)
    told = rf"{name}{ending} has a line of more than 200\.0 kB: decompress it first and use the decompressed file"
    with pytest.raises(InputError, match=told):
        find_duplicates(source)


@pytest.mark.parametrize("ending", COMPRESS)
def test_many_lines_that_expand_too_far_are_refused(ending: str, tmp_path: Path) -> None:
    line = b'{"text": "' + b"a" * 1000 + b'"}\n'
    source = compressed(tmp_path, f"lines.jsonl{ending}", line * 1000)
    with pytest.raises(
        InputError, match=rf"lines\.jsonl{ending} expands to more than 1\.0 MB, over 200 times its size"
    ):
        find_duplicates(source)
    assert len(find_duplicates(compressed(tmp_path, f"fewer.jsonl{ending}", line * 900)).kept) == 1


def test_a_text_of_several_lines_is_in_memory_as_a_whole_and_so_refused(tmp_path: Path) -> None:
    source = compressed(tmp_path, "text.txt.gz", b"a line\n" * 50_000)
    with pytest.raises(
        (InputError, MalformedRowError), match=r"has a text of more than 200\.0 kB: decompress"
    ):
        find_duplicates(source)


def test_files_that_compress_as_texts_do_are_read_whatever_their_size(tmp_path: Path) -> None:
    lines = b"".join(b'{"text": "%d"}\n' % (i * 7919**3) for i in range(80_000))
    assert len(lines) > 2_000_000
    assert len(find_duplicates(compressed(tmp_path, "lines.jsonl.gz", lines)).kept) == 80_000


def test_the_limits_grow_with_the_file() -> None:
    assert ExpansionLimits.of(10) == ExpansionLimits(1_000_000, 200_000)
    assert ExpansionLimits.of(10**9) == ExpansionLimits(200 * 10**9, 20 * 10**9)


def test_of_a_bomb_no_more_than_a_piece_is_decompressed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """65 KB of Zstandard stand for 2 GB; a piece of them for 64 MB."""
    bomb = ZstdCompressor().compress(bytes(1 << 28))
    (tmp_path / "bomb.zst").write_bytes(bomb)
    largest = 0
    content: Any = None

    def watched(self: Any) -> bool:
        nonlocal largest
        more = bool(content(self))
        largest = max(largest, len(self._ready))
        return more

    from benzer.sources import compression

    content = compression._ZstdContent._decompress_some
    monkeypatch.setattr(compression._ZstdContent, "_decompress_some", watched)
    assert FileInput("bomb", tmp_path / "bomb.zst", ".zst").head() == bytes(HEAD_BYTES)
    assert 0 < largest <= 64 << 20
    assert unpacked(bomb, ".zst") == bytes(HEAD_BYTES)
