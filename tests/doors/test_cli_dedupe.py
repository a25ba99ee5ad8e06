"""`benzer dedupe` against indexes, by every method, bounded, interrupted, measured and priced."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from benzer import Options, find_duplicates
from benzer.cli import dedupe_summary
from benzer.cli.dedupe_run import Run
from benzer.errors import StorageError
from benzer.pipeline import Checkpoint
from benzer.presets import PRESETS
from tests.corpora import collection
from tests.doors.shell import FOX, FOX_AGAIN, OTHER, answer, on_terminal, one_line, rows, run
from tests.reference.similarity import text_similarity
from tests.reference.text import Recipe


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, documents: dict[str, str]) -> str:
    """Texts by id as JSONL."""
    lines = (json.dumps({"id": one, "text": text}) + "\n" for one, text in documents.items())
    Path(name).write_text("".join(lines), encoding="utf-8")
    return name


def test_new_documents_against_an_index() -> None:
    run("index", "may.benzer", write("may.jsonl", {"old": FOX}), "--threshold", "0.7")
    june = write("june.jsonl", {"new": FOX_AGAIN, "other": OTHER, "copy": OTHER})
    found = answer("dedupe", june, "--against", "may.benzer", "--output", "clean")
    assert found["counts"]["known"] == 1
    assert found["settings"]["against"] == ["may.benzer"]
    assert found["settings"]["threshold"] == 0.7, "that of the index"
    assert rows(Path(found["files"]["old_matches"])) == [
        {
            "id": "new",
            "old_id": "old",
            "index": "may.benzer",
            "similarity": text_similarity(FOX, FOX_AGAIN, Recipe()),
        }
    ]
    removed = rows(Path(found["files"]["removed"]))
    assert [(one["id"], one["kept_id"], one["kept_in"]) for one in removed] == [
        ("new", "old", "may.benzer"),
        ("copy", "other", None),
    ]
    shown = run("dedupe", june, "--against", "may.benzer", "--output", "again").stdout
    assert "known" in shown
    assert "A match in may.benzer is found with probability 0.95 or more" in shown


def test_several_indexes_come_in_the_order_given() -> None:
    for name in ("one", "two"):
        run("index", f"{name}.benzer", write(f"{name}.jsonl", {name: FOX}))
    write("new.jsonl", {"new": FOX})
    for first, second in (("one", "two"), ("two", "one")):
        given = [part for name in (first, second) for part in ("--against", f"{name}.benzer")]
        found = answer("dedupe", "new.jsonl", *given, "--output", f"clean-{first}")
        assert rows(Path(found["files"]["removed"]))[0]["kept_in"] == f"{first}.benzer"
        assert len(rows(Path(found["files"]["old_matches"]))) == 2


def test_the_fields_of_the_index_are_those_of_the_run() -> None:
    run("index", "old.benzer", write("old.jsonl", {"old": FOX}), "--shingle", "char:5")
    write("new.jsonl", {"new": FOX_AGAIN})
    found = answer("dedupe", "new.jsonl", "--against", "old.benzer", "--output", "clean")
    assert found["settings"]["schema"]["text"]["unit"] == "char"
    refused = run(
        "dedupe", "new.jsonl", "--against", "old.benzer", "--shingle", "word:3", "--output", "x", status=2
    )
    assert "--shingle char:5, got word:3" in one_line(refused)


def test_an_index_that_finds_too_little_is_refused_with_the_cure() -> None:
    run("index", "old.benzer", write("old.jsonl", {"old": FOX}))
    write("new.jsonl", {"new": FOX_AGAIN})
    given = ("dedupe", "new.jsonl", "--against", "old.benzer", "--threshold", "0.5")
    refused = one_line(run(*given, "--output", "clean", status=2))
    assert "use a recall of at most" in refused
    advised = refused.split("at most ")[1].split(",")[0]
    run(*given, "--recall", advised, "--output", "clean")
    assert "no such index" in one_line(
        run("dedupe", "new.jsonl", "--against", "no.benzer", "--output", "x", status=2)
    )


@pytest.mark.parametrize(
    "options, method, message",
    [
        ((), "lsh", "A pair at 0.80 is found with probability 0.952 by 10 bands of 6 rows"),
        (("--recall", "1"), "exact", "Every pair at 0.80 and above is found"),
        (("--method", "exact"), "exact", "Every pair at 0.80 and above is found"),
        (("--method", "auto"), None, "Method: "),
    ],
)
def test_each_method_says_how_it_found_pairs(
    options: tuple[str, ...], method: str | None, message: str
) -> None:
    write("docs.jsonl", collection(2, 150))
    found = answer("dedupe", "docs.jsonl", *options, "--output", "clean")
    assert method in (None, found["settings"]["method"])
    assert message in run("dedupe", "docs.jsonl", *options, "--output", "again").stdout


def test_bands_that_find_every_pair_are_refused() -> None:
    write("docs.jsonl", {"a": FOX})
    given = ("dedupe", "docs.jsonl", "--method", "lsh", "--recall", "1", "--output", "clean")
    assert "bands cannot find every pair" in one_line(run(*given, status=2))
    assert not Path("clean").exists()


def test_what_was_found_is_measured_unless_left_out() -> None:
    texts = collection(3, 200)
    write("docs.jsonl", texts)
    found = answer("dedupe", "docs.jsonl", "--threshold", "0.5", "--recall", "0.6", "--output", "clean")
    measured = found["measured_recall"]
    truth = find_duplicates(texts, threshold=0.5, recall=1.0)
    lossy = find_duplicates(texts, threshold=0.5, recall=0.6)
    kept = truth.stands_for == range(len(texts))
    of_contents = [
        sum(kept[left] and kept[right] for left, right in zip(pairs.left, pairs.right, strict=True))
        for pairs in (lossy.pairs, truth.pairs)
    ]
    assert measured["exhaustive"]
    assert measured["pair_recall"] == pytest.approx(of_contents[0] / of_contents[1])
    shown = run("dedupe", "docs.jsonl", "--output", "again").stdout
    assert "Measured recall: " in shown
    assert "Measured recall:" not in run("dedupe", "docs.jsonl", "--no-measure", "--output", "third").stdout


def test_a_large_run_is_measured_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    write("docs.jsonl", collection(3, 50))
    monkeypatch.setattr("benzer.cli.dedupe_run.MEASURED_BYTES", 1000)
    assert "Measured recall:" not in run("dedupe", "docs.jsonl", "--output", "unasked").stdout
    assert "Measured recall:" in run("dedupe", "docs.jsonl", "--measure", "--output", "asked").stdout


def test_an_interrupted_run_goes_on_and_leaves_nothing_behind() -> None:
    write("docs.jsonl", collection(4, 100))
    with Checkpoint("saved") as saved:
        find_duplicates("docs.jsonl", options=Options(checkpoint=saved))
    parts = set(Path("saved").glob("*.npz"))
    assert parts
    refused = run(
        "dedupe", "docs.jsonl", "--checkpoint", "saved", "--threshold", "0.6", "--output", "x", status=2
    )
    assert "settings.threshold was 0.8, now 0.6" in one_line(refused)
    assert set(Path("saved").glob("*.npz")) == parts
    run("dedupe", "docs.jsonl", "--checkpoint", "saved", "--output", "clean")
    assert not Path("saved").exists()


def test_the_checkpoint_outlives_a_failure_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    write("docs.jsonl", collection(4, 100))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("benzer.results.writing.write_table", full)
    run("dedupe", "docs.jsonl", "--checkpoint", "saved", "--output", "clean", status=2)
    assert list(Path("saved").glob("sketch-*.npz"))
    assert not Path("clean").exists()


def test_a_full_disk_is_told_with_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    write("docs.jsonl", collection(4, 10))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("benzer.results.writing.write_table", full)
    told = one_line(run("dedupe", "docs.jsonl", "--output", "clean", status=2))
    assert "cannot write clean (No space left on device): free some space, or choose another path" in told


def test_a_full_disk_is_told_with_the_place_of_a_new_index(monkeypatch: pytest.MonkeyPatch) -> None:
    write("docs.jsonl", collection(4, 10))

    def full(path: Any, *_: Any, **__: Any) -> None:
        raise StorageError(f"{path}: database or disk is full")

    monkeypatch.setattr("benzer.index.Index.open", full)
    told = one_line(run("index", "new.benzer", "docs.jsonl", status=2))
    assert told == "benzer: error: new.benzer: database or disk is full\n"


def test_a_full_disk_is_told_with_the_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    told = one_line(run("dedupe", "-", "--output", "clean", stdin='{"text": "one"}', status=2))
    assert f"cannot write a copy of stdin to {gettempdir()} (No space left on device)" in told
    monkeypatch.setattr("os.pwrite", full)
    write("docs.jsonl", collection(4, 10))
    monkeypatch.setattr("benzer.pipeline.memory.Memory.spills", lambda *_, **__: True)
    told = one_line(run("dedupe", "docs.jsonl", "--memory", "64MB", "--output", "clean", status=2))
    assert (
        f"cannot write band keys to {gettempdir()} (No space left on device): free some space, or set" in told
    )


def test_an_output_that_is_a_link_is_replaced_where_it_leads() -> None:
    write("docs.jsonl", {"fox": FOX, "copy": FOX})
    Path("disk").mkdir()
    Path("clean").symlink_to("disk/clean")
    for _ in range(2):
        run("dedupe", "docs.jsonl", "--output", "clean", "--replace")
        assert Path("clean").is_symlink()
        assert [one["id"] for one in rows(Path("disk/clean/kept.jsonl"))] == ["fox"]
        assert [path.name for path in Path("disk").iterdir()] == ["clean"]


@pytest.mark.parametrize("wrong", ["loop", "/dev/zero"])
def test_an_input_that_is_no_file_is_one_line_and_2(wrong: str) -> None:
    Path("loop").symlink_to("loop")
    write("docs.jsonl", {"fox": FOX})
    one_line(run("dedupe", wrong, "--output", "clean", status=2))
    one_line(run("dedupe", "docs.jsonl", "--output", "clean", "--against", wrong, status=2))
    one_line(run("index", "new.benzer", wrong, status=2))
    one_line(run("compare", "docs.jsonl", wrong, status=2))
    one_line(run("contained", wrong, status=2))


def test_an_output_or_checkpoint_that_leads_to_itself_is_one_line_and_2() -> None:
    Path("loop").symlink_to("loop")
    write("docs.jsonl", {"fox": FOX})
    told = one_line(run("dedupe", "docs.jsonl", "--output", "loop", "--replace", status=2))
    assert "loop is a link to itself: choose another path" in told
    one_line(run("dedupe", "docs.jsonl", "--output", "clean", "--checkpoint", "loop", status=2))


def test_what_a_killed_run_left_is_removed_and_named() -> None:
    write("docs.jsonl", collection(4, 100))
    code = (
        "import os, signal, benzer.results.writing as writing\n"
        "from benzer.cli import main\n"
        "writing.write_summary = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "main(['dedupe', 'docs.jsonl', '--output', 'clean'])"
    )
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == -9
    left = [path.name for path in Path().glob(".clean.*")]
    assert len(left) == 1, "the second run has removed what the first one left"
    done = run("dedupe", "docs.jsonl", "--output", "clean")
    assert f"{left[0]}, left by a killed run\n" in done.stderr
    assert done.stderr.count("killed run") == 1
    assert {path.name for path in Path().iterdir()} == {"docs.jsonl", "clean"}


@pytest.mark.parametrize(
    "checkpoint, output", [("clean", "clean"), ("clean/saved", "clean"), ("saved", "saved/clean")]
)
def test_the_output_is_never_removed_with_the_checkpoint(checkpoint: str, output: str) -> None:
    write("docs.jsonl", collection(4, 30))
    options = ("--checkpoint", checkpoint, "--output", output, "--replace")
    told = run("dedupe", "docs.jsonl", *options, status=2)
    assert f"the output {output} and the checkpoint {checkpoint} overlap" in one_line(told)
    assert [path.name for path in Path().iterdir()] == ["docs.jsonl"]


@pytest.mark.parametrize("memory, status", [("1GB", 0), ("64 MB", 0), ("1MB", 2), ("much", 2)])
def test_memory_is_bounded_by_a_size(memory: str, status: int) -> None:
    write("docs.jsonl", collection(4, 100))
    ran = run("dedupe", "docs.jsonl", "--memory", memory, "--output", "clean", status=status)
    if status:
        assert "memory must be" in one_line(ran)


def test_the_sources_may_be_named_in_order_of_priority() -> None:
    for name in ("web", "books"):
        write(f"{name}.jsonl", {name: FOX})
    found = answer("dedupe", "web.jsonl", "books.jsonl", "--keep", "source:books", "--output", "clean")
    assert rows(Path(found["files"]["removed"]))[0]["kept_id"] == "books"
    refused = run("dedupe", "web.jsonl", "books.jsonl", "--keep", "source:bokes", "--output", "x", status=2)
    assert "names an unknown source 'bokes': use web.jsonl, books.jsonl" in one_line(refused)


def test_a_report_lies_beside_the_tables() -> None:
    write("docs.jsonl", {"a": FOX, "b": FOX_AGAIN})
    found = answer("dedupe", "docs.jsonl", "--report", "--output", "clean")
    page = Path(found["files"]["report"])
    assert page == Path("clean/report.html")
    assert "benzer dedupe docs.jsonl --report --output clean" in page.read_text(encoding="utf-8")
    assert "report" not in answer("dedupe", "docs.jsonl", "--output", "again")["files"]


def test_a_dry_run_counts_the_rows_that_it_set_aside() -> None:
    Path("docs.jsonl").write_text('{"text": "a b c"}\n{broken\n', encoding="utf-8")
    shown = run("dedupe", "docs.jsonl", "--dry-run", "--on-error", "skip", status=1)
    assert "1 malformed row skipped" in shown.stderr
    asked = run("dedupe", "docs.jsonl", "--dry-run", "--on-error", "skip", "--json", status=1)
    assert json.loads(asked.stdout)["malformed"] == 1
    run("dedupe", "docs.jsonl", "--dry-run", status=2)


def test_a_dry_run_prices_thresholds_and_writes_nothing() -> None:
    write("docs.jsonl", {"a": FOX, "b": FOX_AGAIN, "c": FOX})
    before = set(Path().iterdir())
    priced = answer("dedupe", "docs.jsonl", "--dry-run", "--threshold", "0.99")
    removed = {one["threshold"]: one["removed"] for one in priced["prices"]}
    assert removed == {0.5: 2, 0.6: 2, 0.7: 2, 0.8: 2, 0.9: 1, 0.99: 1}
    assert "Nothing was written" in run("dedupe", "docs.jsonl", "--dry-run").stdout
    assert set(Path().iterdir()) == before
    assert "--output" in one_line(run("dedupe", "docs.jsonl", status=2))
    assert "--against" in one_line(run("dedupe", "docs.jsonl", "--dry-run", "--against", "x", status=2))


def test_a_terminal_is_told_before_the_run_what_it_will_find() -> None:
    write("docs.jsonl", {"a": FOX, "b": FOX_AGAIN})
    seen, _ = on_terminal("stderr", "dedupe", "docs.jsonl", "--output", "clean", "--json", columns=200)
    assert "A pair at 0.80 is found with probability 0.952 by 10 bands of 6 rows, at 0.70 with" in seen


def test_alarms_are_shown() -> None:
    write("docs.jsonl", {f"copy-{number}": FOX for number in range(50)})
    found = answer("dedupe", "docs.jsonl", "--output", "clean")
    assert found["alarms"]
    shown = run("dedupe", "docs.jsonl", "--output", "again").stdout
    assert "\nplease check\n" in shown
    assert found["alarms"][0]["message"] in shown


def test_a_preset_stands_in_for_the_options_that_are_not_written() -> None:
    documents = write("a.jsonl", {"a": FOX, "b": OTHER})
    for name, chosen in PRESETS.items():
        settings = answer("dedupe", documents, "--preset", name, "--output", name)["settings"]
        assert (settings["threshold"], settings["recall"]) == (chosen.threshold, chosen.recall)
        assert settings["schema"] == chosen.schema.to_dict()
    written = answer("dedupe", documents, "--preset", "ocr", "--threshold", "0.7", "--output", "w")[
        "settings"
    ]
    assert written["threshold"] == 0.7
    assert written["schema"] == PRESETS["ocr"].schema.to_dict()


def test_the_price_of_a_presets_threshold_is_in_the_table_of_a_dry_run() -> None:
    found = answer("dedupe", write("a.jsonl", collection(3, 60)), "--preset", "record", "--dry-run")
    assert PRESETS["record"].threshold in [one["threshold"] for one in found["prices"]]


def test_a_preset_that_an_index_was_not_made_with_is_refused() -> None:
    run("index", "may.benzer", write("may.jsonl", {"old": FOX}))
    refused = run("index", "may.benzer", "may.jsonl", "--preset", "ocr", status=2)
    assert "was created with --shingle word:3, got char:5" in one_line(refused)
    unknown = run("dedupe", "may.jsonl", "--preset", "books", "--output", "x", status=2)
    assert "choose one of web, record, code, ocr" in one_line(unknown)


def test_the_summary_keeps_what_was_measured_and_the_alarms() -> None:
    documents = write("a.jsonl", collection(5, 80))
    told = answer("dedupe", documents, "--output", "clean")
    kept = json.loads(Path("clean/summary.json").read_text(encoding="utf-8"))
    assert kept["measured_recall"] == told["measured_recall"]
    assert kept["alarms"] == told["alarms"]
    run("dedupe", documents, "--output", "plain", "--no-measure")
    assert "measured_recall" not in json.loads(Path("plain/summary.json").read_text(encoding="utf-8"))


def test_large_buckets_are_named_with_the_pairs_they_list(capsys: pytest.CaptureFixture[str]) -> None:
    family = {f"d{number}": f"{FOX} and then {number} more of these" for number in range(60)}
    for limit, said in ((3, True), (1000, False)):
        found = find_duplicates(family, threshold=0.5, options=Options(bucket_limit=limit))
        dedupe_summary.display(Run(found, found.measure_recall()), Path("out"), {}, 1.0, None)
        assert ("only their pairs with a kept document are listed" in capsys.readouterr().out) == said
