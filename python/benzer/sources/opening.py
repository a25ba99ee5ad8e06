"""Opens the source for an input: paths, globs, folders, "-", tables and iterables."""

from __future__ import annotations

import glob
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from benzer.errors import InputError
from benzer.registry import Registry
from benzer.sources.base import Source
from benzer.sources.compression import compression_ending
from benzer.sources.formats import ENCODED, Content, binary, recognize
from benzer.sources.frames import is_array, is_frame, items_of
from benzer.sources.special import kind_of, open_pipe
from benzer.sources.streams import FileInput, printable, spooled

FORMATS = Registry(
    "input format",
    {
        "jsonl": "benzer.sources.jsonl:JsonlSource",
        "csv": "benzer.sources.delimited:CsvSource",
        "tsv": "benzer.sources.delimited:TsvSource",
        "parquet": "benzer.sources.parquet:ParquetSource",
        "json": "benzer.sources.json_array:JsonArraySource",
        "ipc": "benzer.sources.ipc:IpcSource",
        "excel": "benzer.sources.excel:ExcelSource",
        "html": "benzer.sources.folder:HtmlSource",
        "warc": "benzer.sources.warc:WarcSource",
        "text": "benzer.sources.folder:TextSource",
        "images": "benzer.sources.folder:ImageSource",
        "arrow": "benzer.sources.arrow:ArrowSource",
        "iterable": "benzer.sources.iterable:IterableSource",
    },
)
ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".arrows": "ipc",
    ".xlsx": "excel",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".warc": "warc",
    ".wet": "warc",
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
PACKED = {"parquet": "Parquet file", "ipc": "Arrow IPC file", "excel": "Excel workbook"}
"""Formats that are read at several places, and compress their own contents."""
IN_MEMORY = ("arrow", "iterable")
FILE_FORMATS = tuple(name for name in FORMATS.names if name not in IN_MEMORY)
STDIN = "-"
MOST_NAMES = 1_000
"""Strings of a list that are looked at before it is refused as a list of file names."""
MOST_CHARACTERS = 4_096


class Files(tuple[str, ...]):
    """File names, globs and folders, e.g. of a command line: strings in a plain list are texts.

    >>> Files(["a.jsonl", "more/*.csv"])
    ('a.jsonl', 'more/*.csv')
    """

    __slots__ = ()


def open_sources(inputs: Any, format: str | None = None, pattern: str | None = None) -> list[Source]:
    """The sources of an input, in the order given; nothing is read yet, only found.

    A string alone, and each `pathlib.Path` of a list, is a path. The strings of a list are texts.

    Args:
        inputs: A path, a glob (its matches sorted), a folder, "-" (the standard input), or several `Path`s. Or a
            table or column of a kind in `benzer.sources.frames`, several, or a mapping of names to tables. Or an
            iterable of texts, documents, mappings or (id, text) pairs, or a mapping of ids to texts; an iterator is
            read as a stream. Or a list of sources (see `Source`), which are taken as they are.
        format: "jsonl", "json", "csv", "tsv", "parquet", "ipc", "excel", "html", "warc", "text" or "images"; by default
            the content of each file decides, and for text the ending of its name (before that of a compression).
        pattern: the files of a folder and its subfolders that are texts, as in "*.html" (else .txt and .md).

    Raises:
        InputError: a path is not there, a glob matches nothing, a file is given twice, or it holds what Benzer does not
            read, e.g. PDF; or all strings of a list look like file names.

    >>> [source.name for source in open_sources([{"id": 1, "text": "one"}, {"id": 2, "text": "two"}])]
    ['documents']
    >>> open_sources("no-such-file.jsonl")
    Traceback (most recent call last):
    benzer.errors.InputError: there is no file or folder no-such-file.jsonl: check the path
    >>> open_sources(["a.jsonl", "b.jsonl"])
    Traceback (most recent call last):
    benzer.errors.InputError: strings in a list are texts, but 'a.jsonl' looks like a file name: use pathlib.Path \
objects for files, or enumerate(...) for texts
    """
    _check_format(format)
    if isinstance(inputs, (str, os.PathLike, Files)):
        names = inputs if isinstance(inputs, Files) else [os.fspath(inputs)]
        return _open_paths(names, format, pattern)
    if is_frame(inputs):
        return [_load("arrow", inputs)]
    if isinstance(inputs, Mapping):
        return _open_mapping(inputs)
    if is_array(inputs):
        inputs = items_of(inputs)
    if not isinstance(inputs, Iterable) or isinstance(inputs, (bytes, bytearray)):
        raise InputError(f"a {type(inputs).__name__} is not an input: use paths, a table, or documents")
    return _open_items(inputs, format, pattern)


def _open_mapping(inputs: Mapping[Any, Any]) -> list[Source]:
    """Tables by name, as of a `datasets.DatasetDict`; or texts by id."""
    if inputs and all(map(is_frame, inputs.values())):
        return [_load("arrow", table, str(name)) for name, table in inputs.items()]
    return [_load("iterable", list(inputs.items()))]


def _open_items(inputs: Iterable[Any], format: str | None, pattern: str | None) -> list[Source]:
    items = iter(inputs)
    head = list(itertools.islice(items, 1))
    first = head[0] if head else None
    if isinstance(first, os.PathLike):
        return _open_paths(_names([*head, *items]), format, pattern)
    if hasattr(first, "read_into"):
        return [*head, *items]
    if is_frame(first):
        tables = enumerate([*head, *items], start=1)
        return [_load("arrow", table, f"table-{i}") for i, table in tables]
    if isinstance(first, str):
        head = check_texts(first, items)
    return [_load("iterable", itertools.chain(head, items) if isinstance(inputs, Iterator) else inputs)]


def check_texts(first: str, items: Iterator[Any]) -> list[Any]:
    """Refuse strings that all look like file names; returns the first and those of `items` that were read."""
    head: list[Any] = [first]
    while looks_like_file(head[-1]):
        further = list(itertools.islice(items, 1))
        if not further or len(head) == MOST_NAMES:
            raise InputError(
                f"strings in a list are texts, but {first!r} looks like a file name: use pathlib.Path objects for "
                "files, or enumerate(...) for texts"
            )
        head += further
    return head


def looks_like_file(text: Any) -> bool:
    """Whether a string names an existing file, or could only be meant as a file name.

    >>> looks_like_file("a.jsonl"), looks_like_file("a text about a.jsonl")
    (True, False)
    """
    if not isinstance(text, str) or not 0 < len(text) < MOST_CHARACTERS or not text.isprintable():
        return False
    if text == STDIN or os.path.lexists(text):
        return True
    if any(character.isspace() for character in text):
        return False
    return ending_format(text) is not None or (glob.has_magic(text) and any(glob.iglob(text)))


def _names(items: Sequence[Any]) -> list[str]:
    for item in items:
        if not isinstance(item, os.PathLike):
            raise InputError(f"{item!r:.80} is among paths: use pathlib.Path objects for all files")
    return [os.fspath(item) for item in items]


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
    if file.compression and content.format in PACKED:
        noun = f"a compressed {PACKED[content.format]}"
        raise Content(None, noun, "decompress it first").refusal(file.name)
    if named == "text" and content in ENCODED:
        return named, file  # the reader knows the encoding
    if named in ("images", *PACKED) and content.format in (None, "text"):
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
    if format not in (None, "text", "html", "images"):
        raise InputError(f"{name} is a folder of texts: for {format}, use its files, e.g. {name}/*.{format}")
    if format is None:
        format = "html" if pattern is None and holds_pages(path) else "text"
    return _load(format, FileInput(name, path, pattern=pattern))


def holds_pages(folder: Path) -> bool:
    """Whether a folder or a subfolder has HTML files."""
    names = (name for _, _, files in os.walk(folder) for name in files)
    return any(ENDINGS.get(Path(name).suffix.lower()) == "html" for name in names)


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
