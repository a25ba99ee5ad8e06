"""Sources of the text: Debian documentation packages, downloaded and unpacked, never installed."""

from __future__ import annotations

import logging
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

log = logging.getLogger(__name__)


def fetch(packages: Iterable[str], folder: Path) -> dict[str, Path]:
    """Unpack each package under `folder/unpacked`; returns name -> its folder, without the missing ones."""
    archives, unpacked = folder / "packages", folder / "unpacked"
    archives.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in packages:
        archive = _archive(name, archives)
        if archive is None:
            log.warning("%s: not offered by this machine's package sources, left out", name)
            continue
        found[name] = _unpack(archive, unpacked / name)
    return found


def _archive(name: str, archives: Path) -> Path | None:
    """The downloaded package file; the first call downloads it."""
    if (present := _newest(name, archives)) is not None:
        return present
    log.info("downloading %s", name)
    command = ["apt-get", "download", name]
    run = subprocess.run(command, cwd=archives, capture_output=True, text=True, check=False)
    return _newest(name, archives) if run.returncode == 0 else None


def _newest(name: str, archives: Path) -> Path | None:
    return max(archives.glob(f"{name}_*.deb"), default=None)


def _unpack(archive: Path, target: Path) -> Path:
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        subprocess.run(["dpkg", "-x", str(archive), str(partial)], check=True)
        partial.rename(target)
    return target


def discard_unpacked(folder: Path) -> None:
    """Remove the unpacked files (about 200,000); the downloaded packages are kept."""
    shutil.rmtree(folder / "unpacked")


def versions(packages: Iterable[str], folder: Path) -> dict[str, str]:
    """Version of each downloaded package, read from the name of its file."""
    archives = ((name, _newest(name, folder / "packages")) for name in packages)
    return {name: path.name.split("_")[1] for name, path in archives if path is not None}


def files(folder: Path, suffixes: frozenset[str], largest: int = 4_000_000) -> Iterator[Path]:
    """Regular files of one unpacked package in a fixed order, without very small and very large ones."""
    for path in sorted(folder.rglob("*")):
        regular = path.suffix in suffixes and not path.is_symlink() and path.is_file()
        if regular and 400 <= path.stat().st_size <= largest:
            yield path
