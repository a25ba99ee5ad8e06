"""A virtual environment for each engine, so that none changes the dependencies of another.

`python -m benchmarks.environments` creates all of them; an environment that matches its pins is not changed. Benzer
runs in the environment of the project.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path

from benchmarks.scenarios import ROOT, load_environments, load_interpreters

_FOLDER = ROOT / ".venvs"
PROJECT = ROOT / ".venv"
PINNED = {"fastsketchlsh": "FastSketchLSH"}  # environments whose package is written otherwise


def python_of(engine: str) -> Path:
    """The interpreter that runs `engine`; creates its environment if it is missing or its pins changed."""
    pins = load_environments().get(engine)
    return _interpreter(PROJECT) if pins is None else _interpreter(_make(engine, pins))


def run_in(environment: str, module: str, *arguments: str) -> None:
    """Runs a module of the benchmarks with the interpreter of an environment."""
    subprocess.run([str(python_of(environment)), "-m", module, *arguments], cwd=ROOT, check=True)


def installed(interpreter: Path) -> dict[str, str]:
    """Name -> version of every package in an environment."""
    command = [str(interpreter), "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return {row["name"]: row["version"] for row in json.loads(run.stdout)} if run.returncode == 0 else {}


def _make(name: str, pins: list[str]) -> Path:
    folder = _FOLDER / f"bench-{name}"
    stamp = folder / "pins.json"
    if not stamp.exists() or json.loads(stamp.read_text()) != pins:
        subprocess.run([_base_interpreter(name), "-m", "venv", "--clear", str(folder)], check=True)
        quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([str(_interpreter(folder)), *quiet, *pins], check=True)
        stamp.write_text(json.dumps(pins))
    return folder


def _base_interpreter(name: str) -> str:
    """The Python for a new environment: this one, or the version that the engine needs."""
    version = load_interpreters().get(name)
    if version is None:
        return sys.executable
    found = sorted(glob(str(Path.home() / f".pyenv/versions/{version}*/bin/python")))
    tries = [shutil.which(f"python{version}"), *found]
    for path in filter(None, tries):
        command = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.stdout.strip() == version:
            return path
    raise SystemExit(f"{name} needs Python {version}, which is not on the PATH: install it first")


def _interpreter(folder: Path) -> Path:
    return folder / "bin" / "python"


def main() -> None:
    for name in load_environments():
        print(name, python_of(name))


if __name__ == "__main__":
    main()
