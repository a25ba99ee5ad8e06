"""Where does each engine live? In its own virtual environment, so that none changes another's dependencies.

`python -m benchmarks.environments` makes them all; one that already holds its pins is left as it is.
Benzer runs in the project's own environment.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.scenarios import ROOT, load_environments

_FOLDER = ROOT / ".venvs"
PROJECT = ROOT / ".venv"


def python_of(engine: str) -> Path:
    """The interpreter that runs `engine`; makes its environment when missing or when its pins changed."""
    pins = load_environments().get(engine)
    return _interpreter(PROJECT) if pins is None else _interpreter(_make(engine, pins))


def installed(interpreter: Path) -> dict[str, str]:
    """Name -> version of every package in an environment."""
    command = [str(interpreter), "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return {row["name"]: row["version"] for row in json.loads(run.stdout)} if run.returncode == 0 else {}


def _make(name: str, pins: list[str]) -> Path:
    folder = _FOLDER / f"bench-{name}"
    stamp = folder / "pins.json"
    if not stamp.exists() or json.loads(stamp.read_text()) != pins:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([str(_interpreter(folder)), *quiet, *pins], check=True)
        stamp.write_text(json.dumps(pins))
    return folder


def _interpreter(folder: Path) -> Path:
    return folder / "bin" / "python"


def main() -> None:
    for name in load_environments():
        print(name, python_of(name))


if __name__ == "__main__":
    main()
