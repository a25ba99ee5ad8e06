"""Description of the machine, for every record and table."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine at the start of a measurement; `load` is the 1-minute average, near 0 when it is idle."""

    date: str
    processor: str
    cores: int
    vector_extensions: str
    memory_gib: float
    system: str
    python: str
    load: float

    def sentence(self) -> str:
        """One line for a table's caption."""
        return (
            f"{self.date}, {self.processor}, {self.cores} cores ({self.vector_extensions}), "
            f"{self.memory_gib:.0f} GiB, {self.system}, Python {self.python}, "
            f"load {self.load:.1f} at the start"
        )

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def describe() -> Machine:
    return Machine(
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        processor=_processor("model name") or platform.processor() or platform.machine(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        vector_extensions=_vector_extensions(),
        memory_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        system=_system(),
        python=platform.python_version(),
        load=round(os.getloadavg()[0], 2),
    )


def _vector_extensions() -> str:
    flags = set(_processor("flags").split())
    present = [name for name, flag in (("AVX2", "avx2"), ("AVX-512", "avx512bw")) if flag in flags]
    return ", ".join(present) or "portable"


def _processor(key: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"
