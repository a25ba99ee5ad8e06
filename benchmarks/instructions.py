"""Instruction counts of the hot kernels, measured by callgrind, so that other work of the machine does not matter.

`python -m benchmarks.instructions` compares with `records/instructions.json`, and fails if a kernel takes over 5 %
more; `--write` updates the record and shows the changes. The kernels and their inputs are in crates/benzer-counts.
Callgrind does not support AVX-512, so the levels are portable and AVX2. The counts depend on the compiler: the
record names the version of Rust, and with another one the check fails until the record is updated.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benchmarks" / "records" / "instructions.json"
LEVELS = ("portable", "avx2")
MOST = 1.05
COUNTED = "benzer_counted"  # the function of crates/benzer-counts inside which is counted
Counts = dict[str, dict[str, int]]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="renew the record")
    parser.add_argument("kernels", nargs="*", help="only these; none are written then")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("needs valgrind, which counts the instructions: apt-get install valgrind")
    before = json.loads(RECORD.read_text()) if RECORD.exists() else {"rustc": None, "counts": {}}
    counts, rustc = count(build(), arguments.kernels), rust_version()
    print(table(before["counts"], counts))
    if arguments.write and not arguments.kernels:
        RECORD.write_text(json.dumps({"rustc": rustc, "counts": counts}, indent=1) + "\n")
        print(f"written: {RECORD.relative_to(ROOT)}, of {rustc}")
        return 0
    found = complaints(before, counts, rustc, all_of_them=not arguments.kernels)
    print("\n".join(found) or "no kernel takes over 5 % more instructions than recorded")
    return 1 if found else 0


def build() -> Path:
    """The program with the kernels, compiled like the extension."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "benzer-counts"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "benzer-counts"


def rust_version() -> str:
    run = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def count(program: Path, only: list[str]) -> Counts:
    """Kernel -> level -> instructions. Two run at a time, because other work does not change the counts."""
    listed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    asked = [(kernel, level) for kernel in listed if not only or kernel in only for level in LEVELS]
    with ThreadPoolExecutor(max_workers=2) as workers:
        found = list(workers.map(lambda one: instructions(program, *one), asked))
    counts: Counts = {}
    for (kernel, level), number in zip(asked, found, strict=True):
        counts.setdefault(kernel, {})[level] = number
    return counts


def instructions(program: Path, kernel: str, level: str) -> int:
    """Instructions inside `benzer_counted`, including callees."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "counts"
        options = ["--tool=callgrind", f"--callgrind-out-file={output}", "--collect-atstart=no"]
        command = ["valgrind", *options, f"--toggle-collect={COUNTED}", str(program), kernel, level]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            sys.exit(f"{kernel} at {level} failed: {run.stderr.strip().splitlines()[-1]}")
        total = re.search(r"^(?:totals|summary): (\d+)", output.read_text(), re.MULTILINE)
    if total is None or int(total[1]) == 0:
        sys.exit(f"{kernel} at {level}: nothing was counted inside {COUNTED}")
    return int(total[1])


def complaints(before: dict[str, object], counts: Counts, rustc: str, all_of_them: bool = True) -> list[str]:
    """Reasons why the check fails; none if it passes.

    >>> record = {"rustc": "rustc 1", "counts": {"join": {"avx2": 100}}}
    >>> complaints(record, {"join": {"avx2": 105}}, "rustc 1")
    []
    >>> complaints(record, {"join": {"avx2": 106}}, "rustc 1")
    ['join at avx2: 106 instructions, 6.0 % more than the 100 recorded']
    >>> complaints(record, {"scan": {"avx2": 1}}, "rustc 1")
    ['join at avx2: recorded, but not counted', 'scan at avx2: counted, but not recorded: renew with --write']
    >>> complaints(record, {"join": {"avx2": 90}}, "rustc 2")
    ['the record is of rustc 1, this is rustc 2: counts of two compilers say nothing; renew with --write']
    """
    if before["rustc"] != rustc:
        compilers = f"the record is of {before['rustc']}, this is {rustc}"
        return [f"{compilers}: counts of two compilers say nothing; renew with --write"]
    recorded: Counts = before["counts"]  # type: ignore[assignment]
    old, new = _flat(recorded), _flat(counts)
    found = []
    for kernel, level in dict.fromkeys((*old, *new)):
        was, now = old.get((kernel, level)), new.get((kernel, level))
        where = f"{kernel} at {level}"
        if now is None:
            found += [f"{where}: recorded, but not counted"] if all_of_them else []
        elif was is None:
            found.append(f"{where}: counted, but not recorded: renew with --write")
        elif now > was * MOST:
            more = 100 * (now / was - 1)
            found.append(f"{where}: {now:,} instructions, {more:.1f} % more than the {was:,} recorded")
    return found


def _flat(counts: Counts) -> dict[tuple[str, str], int]:
    return {(kernel, level): number for kernel, levels in counts.items() for level, number in levels.items()}


def table(before: Counts, counts: Counts) -> str:
    """Thousands of instructions now, with the change against the record."""
    old = _flat(before)
    lines = [f"{'thousands of instructions':30}{'portable':>24}{'avx2':>24}"]
    for kernel, levels in counts.items():
        cells = (_cell(number, old.get((kernel, level))) for level, number in levels.items())
        lines.append(f"{kernel:30}{''.join(f'{cell:>24}' for cell in cells)}")
    return "\n".join(lines)


def _cell(number: int, was: int | None) -> str:
    change = f"{100 * (number / was - 1):+.1f} %" if was else "new"
    return f"{number / 1000:,.0f} ({change})"


if __name__ == "__main__":
    sys.exit(main())
