"""Opens the source for an input: paths, globs, folders, "-", tables and iterables."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from benzer.errors import InputError
from benzer.registry import Registry
from benzer.sources.base import Source
from benzer.sources.compression import compression_ending
from benzer.sources.formats import ENCODED, binary, recognize
from benzer.sources.special import kind_of, open_pipe
from benzer.sources.streams import FileInput, printable, spooled

FORMATS = Registry(
    "input format",
    {
        "jsonl": "benzer.sources.jsonl:JsonlSource",
        "csv": "benzer.sources.delimited:CsvSource",
        "tsv": "benzer.sources.delimited:TsvSource",
        "parquet": "benzer.sources.parquet:ParquetSource",
        "text": "benzer.sources.folder:TextSource",
        "images": "benzer.sources.folder:ImageSource",
        "arrow": "benzer.sources.arrow:ArrowSource",
        "iterable": "benzer.sources.iterable:IterableSource",
    },
)
ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
    ".md": "text",
    ".jpg": "images",
    ".jpeg": "images",
    ".png": "images",
    ".webp": "images",
    ".gif": "images",
    ".bmp": "images",
    ".tif": "images",
    ".tiff": "images",
}
IN_MEMORY = ("arrow", "iterable")
FILE_FORMATS = tuple(name for name in FORMATS.names if name not in IN_MEMORY)
STDIN = "-"


def open_sources(inputs: Any, format: str | None = None, pattern: str | None = None) -> list[Source]:
    """The sources of an input, in the order given; nothing is read yet, only found.

    Args:
        inputs: one or several paths, globs (their matches sorted) or folders; "-" is the standard input. Or a
            table (anything with `__arrow_c_stream__`), or several. Or an iterable of documents, mappings or
            (id, text) pairs, or a mapping of ids to texts. Or a list of sources (see `Source`), which are taken as they
            are.
        format: "jsonl", "csv", "tsv", "parquet", "text" or "images"; by default the content of each file
            decides, and for text the ending of its name (what stands before .gz, .zst, .bz2 or .xz).
        pattern: the files of a folder and its subfolders that are texts, as in "*.html" (else .txt and .md).

    Raises:
        InputError: a path is not there, a glob matches nothing, a file is given twice, or it holds what Benzer does not
            read, e.g. PDF.

    >>> [source.name for source in open_sources([{"id": 1, "text": "one"}, {"id": 2, "text": "two"}])]
    ['documents']
    >>> open_sources("no-such-file.jsonl")
    Traceback (most recent call last):
    benzer.errors.InputError: there is no file or folder no-such-file.jsonl: check the path
    """
    _check_format(format)
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    if hasattr(inputs, "__arrow_c_stream__"):
        return [_load("arrow", inputs)]
    items = _items(inputs)
    if items and all(isinstance(item, (str, os.PathLike)) for item in items):
        return _open_paths([os.fspath(item) for item in items], format, pattern)
    if items and all(hasattr(item, "read_into") for item in items):
        return items
    if items and all(hasattr(item, "__arrow_c_stream__") for item in items):
        return [_load("arrow", table, f"table-{i}") for i, table in enumerate(items, start=1)]
    return [_load("iterable", items)]


def _items(inputs: Any) -> list[Any]:
    if isinstance(inputs, Mapping):
        return list(inputs.items())
    if not isinstance(inputs, Iterable):
        raise InputError(f"a {type(inputs).__name__} is not an input: use paths, a table, or documents")
    return inputs if isinstance(inputs, list) else list(inputs)


def _check_format(format: str | None) -> None:
    if format is not None and format not in FILE_FORMATS:
        raise InputError(f'there is no input format "{format}": choose one of {", ".join(FILE_FORMATS)}')


def _load(format: str, *arguments: Any) -> Source:
    return cast(Source, FORMATS.load(format)(*arguments))


def _open_paths(names: Sequence[str], format: str | None, pattern: str | None) -> list[Source]:
    if names.count(STDIN) > 1:
        raise InputError(f'the standard input "-" is given {names.count(STDIN)} times: name it once')
    found = [path for name in names for path in _matches(name)]
    sources = [_open_path(name, format, pattern) for name in found]
    _check_twice(sources)
    return sources


def _matches(name: str) -> list[str]:
    """What a name stands for: itself where it exists, else what it matches as a glob ("**": files only)."""
    if name == STDIN or os.path.lexists(name):
        return [name]
    if not glob.has_magic(name):
        raise InputError(f"there is no file or folder {name}: check the path")
    matches = sorted(glob.glob(name, recursive=True))
    if "**" in name:
        matches = [match for match in matches if not os.path.isdir(match)]
    if not matches:
        raise InputError(f"nothing matches {name}: check the pattern")
    return matches


def _open_path(name: str, format: str | None, pattern: str | None) -> Source:
    if name == STDIN:
        return _open_pipe("stdin", sys.stdin.buffer, format)
    path, name = Path(name), printable(name)
    kind = kind_of(name, path)
    if kind == "folder":
        return _open_folder(name, path, format, pattern)
    if kind == "pipe":
        with open_pipe(name, path) as stream:
            return _open_pipe(name, stream, format)
    compression = compression_ending(name)
    ending = Path(path.stem).suffix if compression else path.suffix
    file = FileInput(name, path, compression)
    chosen, file = recognized(file, format or ENDINGS.get(ending.lower()), fixed=format is not None)
    suffix = (ending or _ending(chosen)) + (path.suffix if compression else "")
    return _load(chosen, replace(file, suffix=suffix))


def ending_format(name: str) -> str | None:
    """The format that the ending of a name stands for, before that of a compression; None for any other.

    >>> ending_format("a.csv.gz"), ending_format("README")
    ('csv', None)
    """
    path = Path(name)
    stem = Path(path.stem) if compression_ending(name) else path
    return ENDINGS.get(stem.suffix.lower())


def recognized(file: FileInput, named: str | None, fixed: bool = False) -> tuple[str, FileInput]:
    """Return the format that reads a file, and the file with its compression.

    Args:
        file: The file; a compression that its name does not say is recognized as well.
        named: The format that the ending of its name, or the user, names.
        fixed: Whether the user has named it. Then only what is no text at all is refused.

    Raises:
        InputError: Benzer does not read what the file holds.
    """
    content = recognize(file.head(), named)
    if content.compression and not file.compression:
        file = replace(file, compression=content.compression)
        content = recognize(file.head(), named)
    if file.compression and content.format == "parquet":
        raise InputError(f"{file.name} is a compressed Parquet file: decompress it first")
    if named == "text" and content in ENCODED:
        return named, file  # the reader of texts knows the encoding
    if named in ("images", "parquet") and content.format in (None, "text"):
        return named, file  # its reader says what is wrong with it
    if fixed and named is not None:
        if not content.readable and binary(file.head()) is not None:
            raise content.refusal(file.name)
        return named, file
    if content.format is None:
        raise content.refusal(file.name)
    return content.format, file


def _open_pipe(name: str, stream: BinaryIO, format: str | None) -> Source:
    """A pipe, read to its end; JSONL where its content says nothing else."""
    file = spooled(name, stream, "")
    chosen, file = recognized(file, format or "jsonl", fixed=format is not None)
    return _load(chosen, replace(file, suffix=_ending(chosen) + file.compression))


def _open_folder(name: str, path: Path, format: str | None, pattern: str | None) -> Source:
    if format not in (None, "text", "images"):
        raise InputError(f"{name} is a folder of texts: for {format}, use its files, e.g. {name}/*.{format}")
    return _load(format or "text", FileInput(name, path, pattern=pattern))


def _ending(format: str | None) -> str:
    return next((ending for ending, name in ENDINGS.items() if name == format), ".jsonl")


def _check_twice(sources: Iterable[Source]) -> None:
    """A file that is read twice would be its own duplicate."""
    seen: dict[Path, Source] = {}
    for source in sources:
        if source.path is None:
            continue
        real = Path(os.path.realpath(source.path))
        if real in seen:
            raise InputError(f"{source.name} is given twice (also as {seen[real].name}): name it once")
        seen[real] = source
    for real, source in seen.items():
        for parent in real.parents:
            folder: Any = seen.get(parent)
            if folder is not None and (real.is_dir() or folder.reads(real)):
                raise InputError(f"{source.name} is given twice (it lies in {folder.name}): name it once")
