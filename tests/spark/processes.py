"""Processes that tests of Spark start: they import what the tests import, and leave nothing outside their folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import benzer

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(benzer.__file__).resolve().parents[1]
JAVA = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -XX:MetaspaceSize=256m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Options of Java for short runs: starting Spark and its first job take 32 s of CPU time instead of 43."""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What a process in a folder of its own is told; `more` of it."""
    own = {
        "JDK_JAVA_OPTIONS": f"{JAVA} -Djava.io.tmpdir={folder}",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(PACKAGES)]),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TMPDIR": str(folder),
    }
    return {**os.environ, **own, **more}


def home(folder: Path) -> Path:
    """Spark as it is installed, at a place where its workers may write."""
    import pyspark

    place = folder / "home"
    place.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (place / part.name).symlink_to(part)
    return place
