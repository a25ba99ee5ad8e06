"""Stored runs, one file each, so that an interrupted measurement continues."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


@dataclass(frozen=True)
class Cells:
    """A folder with a file for each run; `again` measures all of them again."""

    folder: Path
    again: bool = False

    def keep(self, name: str, task: dict[str, Any], measure: Callable[[], Cell]) -> Cell:
        """The stored measurement of this task, or a new one by `measure`."""
        path = self.folder / f"{name}.json"
        if path.exists() and not self.again:
            kept: Cell = json.loads(path.read_text())
            if kept["task"] == json.loads(json.dumps(task)):
                return kept
        cell = {"task": task, **measure()}
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(cell, indent=1))
        partial.replace(path)
        return cell
