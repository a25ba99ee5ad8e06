"""Estimate a run over a billion documents: rows and bytes of each stage, disk, hours, cost.

`python -m benchmarks.cluster_sizing` prints the tables of docs/how-to/size-a-cluster.md; `--write` writes them to
the page. The rates are those of records/spark-rates.json, which `python -m benchmarks.spark_bench overhead`
measures.

    python -m benchmarks.cluster_sizing --documents 3e9 --text-bytes 4000 --cores 512 --price 0.05
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.scenarios import DOCS, RECORDS
from benzer.spark.documents import MOST_BROADCAST
from benzer.spark.settings import Work

RATES = RECORDS / "spark-rates.json"
PAGE = DOCS / "how-to" / "size-a-cluster.md"
TITLE = "Size a cluster"
NOT_MEASURED = "Not measured yet: `python -m benchmarks.spark_bench overhead` does."

NUMBER, KEY, CONTENT = 8, 8, 16
PAIR = 2 * NUMBER
FIXED = 3 * NUMBER + CONTENT + 8 + 4 + 4
"""Of a sketch: number, id, place and content, length, state, source (`benzer.spark.frames`); the keys come to it."""
SPILLED = 2
"""A shuffle lies on disk as it is written, and once more where it is sorted and does not fit the memory."""
LEAST_ID_BITS = 64

PUBLISHED_COST, PUBLISHED_VCPUS, PUBLISHED_HOURS = 620.0, 2016, 4.5
EXAMPLE_PRICE = round(PUBLISHED_COST / (PUBLISHED_VCPUS * PUBLISHED_HOURS), 3)
"""Dollars per vCPU and hour that the published run of distributed-curator comes to. Prices change: give your own."""


@dataclass(frozen=True)
class Rates:
    """Measured times, and the size of the measured run.

    seconds: by stage, on `cores` cores. copies: documents with the same content as another one. members: originals
    that have a candidate. bands, rows: those of the run.
    """

    seconds: dict[str, float]
    cores: int
    documents: int
    text_bytes: int
    copies: int
    candidates: int
    members: int
    bands: int
    rows: int

    @classmethod
    def load(cls, path: Path = RATES) -> Rates:
        """Load the record of a measurement."""
        record = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{name: record[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Cluster:
    """Documents and machines of the estimate.

    text_bytes: per document. executor_cores: of one executor; its local disk is shared by the passes.
    bands_per_pass: as in `Work`, 0 for all. price: per core and hour. slower: total slowdown of a core compared
    with the measured one: processor, network, object store, waiting for the last task. unrelated: the similarity of
    two unrelated documents. network: bytes per second of each core, from and to storage and the other executors; 40
    MB is a share of four cores of 1.25 Gbit per second each.
    """

    documents: int
    text_bytes: float
    cores: int = 64
    executor_cores: int = 4
    bands_per_pass: int = 0
    price: float = EXAMPLE_PRICE
    slower: float = 2.0
    unrelated: float = 0.01
    network: float = 40e6


@dataclass(frozen=True)
class Stage:
    """One stage: rows, bytes read from storage, written to it and shuffled, core hours of work.

    network: bytes per second of a core; shuffled bytes are sent once and received once.
    """

    name: str
    rows: float
    read: float
    written: float
    shuffled: float
    work: float
    network: float

    @property
    def transfer(self) -> float:
        """Core hours to transfer all bytes."""
        return (self.read + self.written + 2 * self.shuffled) / self.network / 3600

    @property
    def core_hours(self) -> float:
        """Work and transfer run at the same time; the longer one counts."""
        return max(self.work, self.transfer)

    @property
    def bound(self) -> str:
        """The resource that limits the stage."""
        return "network" if self.transfer > self.work else "cores"


def stages(rates: Rates, asked: Cluster) -> list[Stage]:
    """All stages, in the order of the run."""
    count, share = asked.documents, 1 / rates.documents
    originals = count * (1 - rates.copies * share)
    pairs = candidates(rates, asked)
    members = count * rates.members * share
    texts, sketches = count * asked.text_bytes, count * (FIXED + KEY * rates.bands)
    wider = asked.text_bytes / (rates.text_bytes * share)  # of work that goes with the bytes of a text
    more = pairs / (count * rates.candidates * share)  # of work that goes with the candidates
    each = rates.cores * share * count * asked.slower / 3600
    of = {name: seconds * each for name, seconds in rates.seconds.items()}
    keys = originals * rates.bands
    table: list[tuple[str, float, float, float, float, float]] = [
        ("sketch", count, texts, sketches, 0, of["sketch"] * wider),
        ("copies", count, sketches, 0, count * (CONTENT + NUMBER), of["copies"]),
        ("join", keys, sketches, 0, keys * (KEY + NUMBER) + rates.bands * pairs * PAIR, of["join"]),
        ("blocks", pairs, 0, 0, 2 * pairs * PAIR, of["blocks"] * more),
        ("decide", members, texts, members * FIXED, compared(rates, asked), of["decide"] * wider * more),
        ("rest", 0, 0, 0, 0, of["rest"]),
    ]
    return [Stage(*row, network=asked.network) for row in table]


def candidates(rates: Rates, asked: Cluster) -> float:
    """Candidates of related documents, in proportion, and those by chance, which grow quadratically.

    Two documents of similarity s share one of b bands of r rows with the probability 1 - (1 - s^r)^b, so at most b
    s^r (Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, 3.4.2).
    """
    related = asked.documents * rates.candidates / rates.documents
    return related + rates.bands * asked.unrelated**rates.rows * asked.documents**2 / 2


def compared(rates: Rates, asked: Cluster) -> float:
    """Bytes of contents that are shuffled: documents with a candidate are sent to the task that compares them.

    Up to a million numbers are broadcast to the readers of the table; if there are more, the whole table is joined.
    """
    members = asked.documents * rates.members / rates.documents
    return (members + (asked.documents if members > MOST_BROADCAST else 0)) * asked.text_bytes


def disk(rates: Rates, asked: Cluster) -> float:
    """Bytes of local disk that an executor needs while bands are shuffled; the largest pass counts."""
    passed = min(asked.bands_per_pass or rates.bands, rates.bands)
    return SPILLED * asked.documents * passed * (KEY + NUMBER) / executors(asked)


def executors(asked: Cluster) -> int:
    """The number of executors."""
    return ceil(asked.cores / asked.executor_cores)


def collisions(documents: int, bits: int = LEAST_ID_BITS) -> float:
    """The expected pairs of equal hashes: n² / 2^(bits + 1), the birthday bound.

    >>> round(collisions(10**9), 3), round(collisions(10**10), 1)
    (0.027, 2.7)
    """
    return documents**2 / 2 ** (bits + 1)


def hours(found: Sequence[Stage], asked: Cluster) -> float:
    """Hours on all cores, one stage after another."""
    return sum(stage.core_hours for stage in found) / asked.cores


def cost(found: Sequence[Stage], asked: Cluster) -> float:
    """Cost of the core hours; storage and transfers are extra."""
    return sum(stage.core_hours for stage in found) * asked.price


def markdown(rates: Rates, asked: Sequence[Cluster]) -> str:
    """The generated section of the page."""
    parts = [_measured(rates)]
    for cluster in asked:
        parts += [
            f"### {_count(cluster.documents)} documents",
            _stage_table(rates, cluster),
            _sentences(rates, cluster),
        ]
    return "\n\n".join([*parts, _sums(rates, asked)])


def _measured(rates: Rates) -> str:
    each = rates.cores / rates.documents * 1e6
    told = ", ".join(f"{name} {seconds * each:.1f}" for name, seconds in rates.seconds.items())
    whole = sum(rates.seconds.values()) * rates.cores
    names = ("copies", "members", "candidates")
    copies, members, candidates = (100 * getattr(rates, name) / rates.documents for name in names)
    return (
        f"Measured: {rates.documents:,} documents of {rates.text_bytes / rates.documents:,.0f} bytes on "
        f"{rates.cores} cores, {rates.bands} bands of {rates.rows} rows; {rates.documents / whole:,.0f} documents per "
        f"second and core. Microseconds of a core for each document: {told}. Of 100 documents, {copies:.1f} had the "
        f"same content as another one, {members:.1f} had a candidate, and there were {candidates:.1f} candidates."
    )


def _stage_table(rates: Rates, asked: Cluster) -> str:
    hours_of = f"hours on {asked.cores:,} cores"
    columns = ("stage", "rows", "read", "written", "shuffled", "bound by", "core hours", hours_of, "cost")
    found = stages(rates, asked)
    lines = [
        [stage.name, _count(stage.rows), *_moved([stage]), stage.bound, *_told([stage], asked)]
        for stage in found
    ]
    return report.table(columns, [*lines, ["**all**", "", *_moved(found), "", *_told(found, asked)]])


def _moved(found: Sequence[Stage]) -> list[str]:
    return [_bytes(sum(getattr(stage, name) for stage in found)) for name in ("read", "written", "shuffled")]


def _told(found: Sequence[Stage], asked: Cluster) -> list[str]:
    """Core hours, hours on all cores, and cost."""
    core_hours = hours(found, asked) * asked.cores
    return [f"{core_hours:,.0f}", f"{hours(found, asked):.2f}", f"${cost(found, asked):,.0f}"]


def _sentences(rates: Rates, asked: Cluster) -> str:
    given, one = (_bytes(disk(rates, way)) for way in (asked, replace(asked, bands_per_pass=1)))
    contents = _bytes(SPILLED * compared(rates, asked) / executors(asked))
    passed = f"{asked.bands_per_pass} bands" if asked.bands_per_pass else "all bands"
    chance = candidates(rates, asked) - candidates(rates, replace(asked, unrelated=0.0))
    return (
        f"Local disk of each of {executors(asked):,} executors of {asked.executor_cores} cores: {given} with {passed} "
        f"at a time, {one} with `bands_per_pass=1`; later {contents} for contents. Candidates by chance among "
        f"documents of similarity {asked.unrelated:g}: {_count(chance)}. Grouped {grouped(rates, asked)}. Expected "
        f"pairs of ids with the same 64-bit hash: {collisions(asked.documents):.2g}; of contents with the same "
        f"128-bit hash: {collisions(asked.documents, 128):.0e}."
    )


def grouped(rates: Rates, asked: Cluster) -> str:
    """The algorithm that groups the candidates, by the limits of `Work`."""
    limits, members = Work(), asked.documents * rates.members / rates.documents
    if candidates(rates, asked) <= limits.driver_pairs:
        return "on the driver"
    return "by spanning forests" if members <= limits.forest_nodes else "by stars"


def _sums(rates: Rates, asked: Sequence[Cluster]) -> str:
    first = asked[0]
    return (
        f"Command: `python -m benchmarks.cluster_sizing`. Assumptions: a core is {first.slower:g} times slower than "
        f"the measured one (`--slower`), has {first.network / 1e6:g} MB of network traffic per second (`--network`), "
        f"and costs ${first.price:g} per hour (`--price`); texts have {first.text_bytes:,.0f} bytes (`--text-bytes`)."
    )


def _count(value: float) -> str:
    """Three digits and the name of the magnitude.

    >>> _count(10**9), _count(2_340_000), _count(12)
    ('1 billion', '2.34 million', '12')
    """
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if value >= size:
            return f"{float(f'{value / size:.3g}'):,g}{name}"
    return f"{value:,.0f}"


def _bytes(value: float) -> str:
    """In powers of ten.

    >>> _bytes(160e9), _bytes(2.2e12), _bytes(0)
    ('160 GB', '2.2 TB', '')
    """
    for size, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if value >= size:
            return f"{float(f'{value / size:.3g}'):,g} {name}"
    return f"{value:,.0f} B" if value else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=float, nargs="+", default=[1e9, 1e10])
    parser.add_argument("--text-bytes", type=float, help="of a document; by default as measured")
    parser.add_argument("--cores", type=int, default=Cluster.cores)
    parser.add_argument("--executor-cores", type=int, default=Cluster.executor_cores)
    parser.add_argument("--bands-per-pass", type=int, default=Cluster.bands_per_pass)
    parser.add_argument("--price", type=float, default=Cluster.price, help="of a core and hour")
    parser.add_argument(
        "--slower", type=float, default=Cluster.slower, help="than the measured core, all in all"
    )
    parser.add_argument(
        "--unrelated", type=float, default=Cluster.unrelated, help="similarity of unrelated documents"
    )
    parser.add_argument(
        "--network", type=float, default=Cluster.network, help="bytes per second of each core"
    )
    parser.add_argument("--rates", type=Path, default=RATES, help="the record of a measurement")
    parser.add_argument("--write", action="store_true", help="write the section of the page")
    return parser


def of_page(path: Path = RATES) -> str:
    """The tables of the page: a billion and ten billion documents, with defaults for everything else."""
    if not path.exists():
        return NOT_MEASURED
    rates = Rates.load(path)
    each = rates.text_bytes / rates.documents
    return markdown(rates, [Cluster(count, each) for count in (10**9, 10**10)])


def main() -> None:
    arguments: dict[str, Any] = vars(_parser().parse_args())
    rates, write = Rates.load(arguments.pop("rates")), arguments.pop("write")
    counts = arguments.pop("documents")
    each = arguments.pop("text_bytes") or rates.text_bytes / rates.documents
    print(markdown(rates, [Cluster(int(count), each, **arguments) for count in counts]))
    if write:
        report.write_section(PAGE, "sizing", of_page(), TITLE)


if __name__ == "__main__":
    main()
