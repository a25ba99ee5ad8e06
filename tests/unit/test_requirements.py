"""The lock files in requirements/ have what pyproject.toml requires, with hashes, on each Python that is supported."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
PYTHONS = ("3.10.0", "3.11.0", "3.12.0", "3.13.0")
SERVICE = ("service", "images", "redis", "parquet")


def lines(name: str) -> str:
    """A file of requirements without its comments."""
    return re.sub(r"^ *#.*\n", "", (ROOT / "requirements" / name).read_text(), flags=re.MULTILINE)


BUILD = lines("build.in").splitlines()
LOCKED = {
    "build": [*PROJECT["build-system"]["requires"], *BUILD],
    "run": PROJECT["project"]["dependencies"],
    "service": [*PROJECT["project"]["dependencies"], *(text for name in SERVICE for text in EXTRAS[name])],
    "dev": [
        *PROJECT["project"]["dependencies"],
        *BUILD,
        *(text for extra in EXTRAS.values() for text in extra),
    ],
    "sbom": lines("sbom.in").splitlines(),
}
"""What each lock file must cover."""
ENTRY = re.compile(r"[a-z0-9-]+==[\w.!+]+(?: ; .+?)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n")
INSTALL = re.compile(r"pip install(?:[^&\n]|\\\n)*")


def entries(name: str) -> Iterator[Requirement]:
    """The packages of a lock file, without their hashes."""
    for line in lines(f"{name}.txt").splitlines():
        if not line.startswith(" "):
            yield Requirement(line.removesuffix("\\"))


def environment(python: str) -> dict[str, str]:
    """The variables of markers on Linux with that version of Python."""
    short = python.rpartition(".")[0]
    changed = {"python_version": short, "python_full_version": python, "sys_platform": "linux"}
    return cast(dict[str, str], {**default_environment(), **changed})


def applies(requirement: Requirement, python: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate(environment(python))


def pins(name: str, python: str) -> dict[str, str]:
    """The version of each package that a lock file installs with that Python."""
    chosen = [entry for entry in entries(name) if applies(entry, python)]
    assert len({entry.name for entry in chosen}) == len(chosen), "a package has two versions"
    return {entry.name: next(iter(entry.specifier)).version for entry in chosen}


@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_file_has_only_versions_with_hashes(name: str) -> None:
    assert ENTRY.sub("", lines(f"{name}.txt")) == ""


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_file_covers_what_pyproject_requires(name: str, python: str) -> None:
    pinned = pins(name, python)
    required = [Requirement(text) for text in LOCKED[name]]
    lacking = [
        str(one)
        for one in required
        if applies(one, python)
        and not (one.name in pinned and one.specifier.contains(pinned[one.name], prereleases=True))
    ]
    assert lacking == [], "run `make lock`"


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", ["build", "run", "service"])
def test_all_lock_files_agree_about_versions(name: str, python: str) -> None:
    assert pins(name, python).items() <= pins("dev", python).items()


@pytest.mark.parametrize("path", ["tools/setup.sh", "Makefile", "deploy/Dockerfile"])
def test_nothing_is_installed_without_a_hash(path: str) -> None:
    commands = INSTALL.findall((ROOT / path).read_text())
    assert commands
    without = [one for one in commands if "--require-hashes" not in one and "--no-index --no-deps" not in one]
    assert without == []


def test_the_build_asks_no_index() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.findall(r".*maturin develop", makefile) == ["DEVELOP := PIP_NO_INDEX=1 $(BIN)/maturin develop"]
