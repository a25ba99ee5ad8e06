"""`benzer dedupe --engine spark` writes the folder of a local run, and refuses what makes no sense on Spark."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from benzer import find_duplicates
from benzer.cli import main
from benzer.cli.dedupe_spark import STEPS, Steps, advice
from tests.spark.processes import JAVA

ROOT = Path(__file__).parents[2]
SMALL = (
    "--partitions", "2", "--spark-conf", "spark.driver.memory=768m",
    "--spark-conf", f"spark.driver.extraJavaOptions={JAVA}",
)  # fmt: skip
SPARK = ("--engine", "spark", "--master", "local[2]", *SMALL)
WORDS = [f"word{number}" for number in range(40)]


def text_of(number: int) -> str:
    """A text of a family of five: its members share all words but one or two."""
    family, member = divmod(number, 5)
    return " ".join(
        [*(f"{word}x{family}" for word in WORDS), *(["more"] * bool(member % 2)), f"m{member // 2}"]
    )


def benzer(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benzer", "dedupe", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_folder_is_that_of_a_local_run_byte_for_byte(tmp_path: Path) -> None:
    rows = [json.dumps({"id": n if n % 3 else str(n), "text": text_of(n)}) + "\n" for n in range(40)]
    (tmp_path / "a.jsonl").write_text(
        "".join([*rows, "\n", '{"text": 7}\n', json.dumps({"text": text_of(3)})])
    )
    table = pa.table({"id": [f"b{n}" for n in range(30)], "text": [text_of(n + 25) for n in range(30)]})
    pq.write_table(table, tmp_path / "b.parquet")
    given = (
        "a.jsonl",
        "b.parquet",
        "--on-error",
        "skip",
        "--keep",
        "source:b",
        "--report",
        "--measure",
        "--json",
    )
    local = benzer(*given, "--output", "local", folder=tmp_path)
    spark = benzer(*given, "--output", "spark", *SPARK, folder=tmp_path)
    assert (local.returncode, spark.returncode) == (1, 1), spark.stderr
    expected, found = files_below(tmp_path / "local"), files_below(tmp_path / "spark")
    assert set(found) == set(expected)
    for name in set(expected) - {"summary.json", "report.html"}:
        assert found[name] == expected[name], name
    told, said = json.loads(local.stdout), json.loads(spark.stdout)
    assert told["counts"]["removed"] > 20
    for name in ("counts", "settings", "sources", "probability_at_threshold", "measured_recall", "alarms"):
        assert said[name] == told[name], name
    assert "omit --engine spark" in spark.stderr
    assert "WARN" not in spark.stderr
    assert spark.stderr.splitlines()[-1] == local.stderr.splitlines()[-1]


REFUSED = {
    ("--method", "exact"): "--method is not supported by --engine spark",
    ("--memory", "2GB"): "--memory is not supported by --engine spark",
    ("--threads", "2"): "--threads is not supported by --engine spark",
    ("--recall", "1"): "use a recall of at most 0.9999",
    ("--spark-conf", "nothing"): "is not KEY=VALUE",
    ("--keep", "best"): "keep must be first, last",
    ("nowhere.jsonl",): "there is no file or folder nowhere.jsonl",
}


@pytest.mark.parametrize("options", REFUSED)
def test_an_option_of_the_local_engine_is_refused(options: Sequence[str], tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    asked = [
        "dedupe",
        str(tmp_path / "a.jsonl"),
        "--output",
        str(tmp_path / "out"),
        "--engine",
        "spark",
        *options,
    ]
    answer = CliRunner().invoke(main, asked)
    assert answer.exit_code == 2
    assert REFUSED[tuple(options)] in answer.stderr
    assert not (tmp_path / "out").exists()


def test_an_option_of_spark_is_refused_without_it(tmp_path: Path) -> None:
    answer = CliRunner().invoke(main, ["dedupe", "a.jsonl", "--output", "out", "--master", "local[2]"])
    assert answer.exit_code == 2
    assert "--master requires --engine spark" in answer.stderr


def test_without_java_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    answer = subprocess.run(
        [sys.executable, "-m", "benzer", "dedupe", "a.jsonl", "--output", "out", *SPARK],
        env={**os.environ, "PATH": str(tmp_path), "JAVA_HOME": ""},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 2
    assert "openjdk-17-jre-headless" in answer.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_the_local_engine_is_advised_only_where_it_is_faster() -> None:
    assert advice(10**8, "local[*]") is not None
    assert advice(10**8, "spark://host:7077") is None


def test_a_terminal_shows_steps_in_their_order_each_once() -> None:
    told: list[str] = []
    steps = Steps(lambda step, done, total: told.append(step), STEPS)
    for stage in (
        "sketch",
        "repeats",
        "copies",
        "join-all",
        "join-hot-1",
        "join",
        "decided",
        "round-1",
        "tied-0-sum",
    ):
        steps(stage, 0, 1)
        steps(stage, 1, 1)
    assert told == ["start", "sketch", "copies", "join", "blocks"]
    steps.reach("measure")
    steps.reach("write")
    assert told == list(STEPS[:-1])


def test_where_nothing_is_shown_steps_are_silent() -> None:
    Steps(None).reach("write")
    assert Steps(None).step == 0


def test_the_example_writes_the_evidence(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {f"d{n:02}": text_of(n) for n in range(40)}
    pq.write_table(pa.table({"id": list(texts), "text": list(texts.values())}), tmp_path / "in.parquet")
    monkeypatch.setattr("sys.argv", ["example", str(tmp_path / "in.parquet"), str(tmp_path / "evidence")])
    monkeypatch.setattr(type(spark), "stop", lambda session: None)  # other tests use the session
    runpy.run_path(str(ROOT / "examples" / "spark_dedupe.py"), run_name="__main__")
    local = find_duplicates(texts)
    rows = pq.read_table(tmp_path / "evidence").to_pylist()
    found = {row["id"]: (row["kept_id"], row["similarity"]) for row in rows}
    assert found == {id: tuple(removal) for id, removal in local.removed.items()}
    assert f"40 documents: {len(local.kept)} kept, {len(local.removed)} removed" in capsys.readouterr().out
