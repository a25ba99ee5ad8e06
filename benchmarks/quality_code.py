"""Labelled source code: four releases of Django, downloaded once from the package registry.

The label of a file is its path: the same module in four releases is one cluster. Files that moved count as
different, and files smaller than 200 bytes (most of them `__init__.py`) are omitted.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

RELEASES = ("2.2.28", "3.2.25", "4.2.16", "5.2")
FOLDER = Path(__file__).resolve().parent / "data" / "code"
LEAST_BYTES = 200


def files() -> Iterator[tuple[str, str, str]]:
    """The id, the text and the path of each file of each release."""
    for release in RELEASES:
        with zipfile.ZipFile(_wheel(release)) as wheel:
            for one in wheel.infolist():
                if one.filename.endswith(".py") and one.file_size >= LEAST_BYTES:
                    text = wheel.read(one).decode("utf-8", "replace")
                    yield f"{release}:{one.filename}", text, one.filename


def _wheel(release: str) -> Path:
    found = list(FOLDER.glob(f"[Dd]jango-{release}-*.whl"))
    if not found:
        FOLDER.mkdir(parents=True, exist_ok=True)
        options = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--dest", str(FOLDER)]
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        subprocess.run([*pip, *options, f"django=={release}"], check=True)
        found = list(FOLDER.glob(f"[Dd]jango-{release}-*.whl"))
    return found[0]
