"""Writes a result to a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benzer.results.base import DecidedDocuments
from benzer.results.columns import packed_table
from benzer.sources import Source
from benzer.tables import OutputFolder, check_destination, write_summary, write_table


def write_folder(
    result: DecidedDocuments,
    output: Path,
    tables: Literal["jsonl", "parquet"],
    replace: bool,
    extra: Mapping[str, Callable[[Path], object]],
    summary: Mapping[str, Any],
) -> dict[str, Path]:
    """Fill a folder that appears complete at the end; see `Duplicates.write`."""
    sources = result.reading.sources
    check_destination([source.path for source in sources if source.path is not None], output)
    with OutputFolder(output, replace=replace) as folder:
        names = {
            "kept": write_documents(result, result.stays, folder, "kept"),
            "removed_documents": write_documents(result, ~result.stays, folder, "removed_documents"),
        }
        optional = {"malformed": bool(result.malformed), "old_matches": result.matches is not None}
        for name in ("removed", "pairs", "clusters", "malformed", "old_matches"):
            if optional.get(name, True):
                columns = packed_table(result, name)
                names[name] = folder / f"{name}.{tables}"
                write_table(names[name], columns, tables)
        for file_name, write in extra.items():
            names[Path(file_name).stem] = folder / file_name
            write(folder / file_name)
        names["summary"] = folder / "summary.json"
        write_summary(names["summary"], dict(summary))
    return {name: output / path.relative_to(folder) for name, path in names.items()}


def write_documents(result: DecidedDocuments, chosen: NDArray[np.bool_], folder: Path, name: str) -> Path:
    """Copy the chosen documents of every source: one file for one source, a folder of files for several."""
    sources = result.reading.sources
    if len(sources) == 1:
        target = folder / f"{name}{sources[0].suffix}"
        sources[0].write_rows(chosen, target)
        return target
    (folder / name).mkdir()
    of_source = result.corpus.sources()
    for number, (source, file_name) in enumerate(zip(sources, file_names(sources), strict=True)):
        target = folder / name / file_name
        source.write_rows(chosen[of_source == number], target)
    return folder / name


def file_names(sources: Sequence[Source]) -> list[str]:
    """Return a name for the copy of each source: its file name, with the source's number if two are equal."""
    names = [Path(source.path or source.name).name or source.name for source in sources]
    names = [
        name if name.endswith(source.suffix) else name + source.suffix
        for name, source in zip(names, sources, strict=True)
    ]
    return [f"{number}-{name}" if names.count(name) > 1 else name for number, name in enumerate(names, 1)]
