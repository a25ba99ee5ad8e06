"""The index file: who may open it, what is refused, and how damage shows."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from benzer.errors import StorageError, StoreFormatError, StoreLockedError
from benzer.storage import open_storage
from benzer.storage.file import FileStorage
from benzer.storage.merge import move_to_runs
from tests.contracts.storages import SETTINGS, SMALL, corpus, found_ids, keys_of, state_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An index file with documents in runs, in the delta, and removed ones."""
    path = tmp_path / "index.benzer"
    with closing(FileStorage(path, SETTINGS, limits=SMALL)) as storage:
        ids, payloads, keys = corpus(100, seed=1)
        storage.add(ids[:95], payloads[:95], keys[:95])
        storage.commit()
        storage.add(ids[95:], payloads[95:], keys[95:])
        storage.remove(ids[:2])
        storage.commit()
        figures = storage.info()
        assert (figures["runs"], figures["removed"]) == (1, 2)
        assert figures["delta"] > 0
    return path


def test_the_file_is_marked_as_an_index(path: Path) -> None:
    header = path.read_bytes()[:100]
    assert header[:16] == b"SQLite format 3\0"
    assert header[68:72] == b"Bnzr"
    assert header[63] == 3, "the format is in the lowest byte of the user version"
    assert int.from_bytes(header[60:63], "big") > 0, "and the stamp above it"
    assert int.from_bytes(header[16:18], "big") == 8192


@pytest.mark.parametrize("mode", ["read", "write"])
def test_closing_leaves_one_file(path: Path, mode: str) -> None:
    with closing(open_storage(path, mode=mode)) as storage:
        assert len(state_of(storage)) == 98
    assert [file.name for file in path.parent.iterdir()] == ["index.benzer"]


@pytest.mark.parametrize(
    "content", [b"id\ttext\n" * 500, b"x", b"PK\3\4" + bytes(1000), b"SQLite format 3\0"]
)
@pytest.mark.parametrize("mode", ["read", "write"])
def test_other_files_are_refused_and_left_alone(tmp_path: Path, content: bytes, mode: str) -> None:
    other = tmp_path / "other"
    other.write_bytes(content)
    with pytest.raises(StoreFormatError):
        open_storage(other, SETTINGS, mode)
    assert other.read_bytes() == content


@pytest.mark.parametrize("mode", ["read", "write"])
def test_other_databases_are_refused_and_left_alone(tmp_path: Path, mode: str) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE document (number)")
        connection.commit()
    before = other.read_bytes()
    with pytest.raises(StoreFormatError, match="a SQLite file but not a Benzer index"):
        open_storage(other, SETTINGS, mode)
    assert other.read_bytes() == before


def test_an_empty_file_becomes_an_index_only_for_writing(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(StoreFormatError):
        open_storage(empty, SETTINGS, "read")
    open_storage(empty, SETTINGS).close()
    open_storage(empty, mode="read").close()


def test_reading_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no index at"):
        open_storage(tmp_path / "x.benzer", SETTINGS, "read")
    assert list(tmp_path.iterdir()) == []


def test_a_newer_format_says_so(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 4")
    with pytest.raises(
        StoreFormatError, match="has index format 4, this version of benzer reads up to 3: upgrade"
    ):
        open_storage(path, mode="read")


def test_missing_tables_are_named(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE delta")
    with pytest.raises(StoreFormatError, match=r"lacks the tables \['delta'\]"):
        open_storage(path)


@pytest.mark.parametrize(
    "damage", ["cut", "pages", "block", "payload", "checksum", "run", "state", "posting"]
)
def test_damage_is_found_by_check(path: Path, damage: str) -> None:
    DAMAGES[damage](path)
    with pytest.raises(StoreFormatError), closing(open_storage(path)) as storage:
        storage.check()


def sql(statement: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()

    return run


def cut(path: Path) -> None:
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size // 2)


def overwrite_pages(path: Path) -> None:
    with open(path, "r+b") as file:
        file.seek(3 * 8192)
        file.write(b"\xa5" * 4 * 8192)


DAMAGES = {
    "cut": cut,
    "pages": overwrite_pages,
    "block": sql(
        "UPDATE block SET keys = zeroblob(length(keys)) WHERE place = (SELECT min(place) FROM block)"
    ),
    "payload": sql("UPDATE document SET payload = CAST('?' AS BLOB) WHERE number = 50"),
    "checksum": sql("UPDATE block SET checksum = checksum + 1 WHERE place = (SELECT max(place) FROM block)"),
    "run": sql("DELETE FROM block WHERE place = (SELECT max(place) FROM block)"),
    "state": sql("DELETE FROM document WHERE number = 50"),
    "posting": sql("INSERT INTO delta VALUES (1, 4000000)"),
}


def test_damage_is_met_by_reads_too(path: Path) -> None:
    _, _, keys = corpus(100, seed=1)
    DAMAGES["block"](path)
    DAMAGES["payload"](path)
    with closing(open_storage(path, mode="read")) as storage:
        with pytest.raises(StoreFormatError, match="is damaged: restore"):
            storage.candidates(keys)
        with pytest.raises(StoreFormatError, match=r"document 50 of .* is damaged"):
            storage.payloads([50])


def test_a_document_that_is_missing_is_told_from_one_that_was_removed(path: Path) -> None:
    with closing(open_storage(path, mode="read")) as storage:
        for number in (0, 4_000_000):
            with pytest.raises(StorageError, match="no longer exists") as told:
                storage.ids([50, number])
            assert told.type is StorageError
    sql("DELETE FROM document WHERE number = 51")(path)
    lost = pytest.raises(StoreFormatError, match="document 51 is missing, though postings name it")
    with closing(open_storage(path, mode="read")) as storage, lost:
        storage.ids([50, 51])


def test_documents_out_of_order_end_the_walk_over_all(tmp_path: Path) -> None:
    """Two pages of documents changed places: the walk went back, and forward again, for ever."""
    path = tmp_path / "index.benzer"
    with closing(FileStorage(path, SETTINGS)) as storage:
        payloads = [f"<{number}>".encode() * 300 for number in range(60)]
        storage.add(list(range(60)), payloads, np.zeros((60, 1), np.uint64))
        storage.commit()
    content = path.read_bytes()
    pages = [content[start : start + 8192] for start in range(0, len(content), 8192)]
    one, other = (
        next(at for at, page in enumerate(pages) if number in page) for number in (b"<12>" * 9, b"<40>" * 9)
    )
    pages[one], pages[other] = pages[other], pages[one]
    path.write_bytes(b"".join(pages))
    told = 0
    with closing(open_storage(path, mode="read")) as storage:
        for size in range(1, 20):
            try:
                assert len(list(islice(storage.iterate(size), 100))) < 100, "a walk that does not end"
            except StoreFormatError:
                told += 1
        with pytest.raises(StoreFormatError, match="out of order"):
            storage.check()
    assert told == 19, "a walk that leaves documents out is told, too"


def test_an_id_that_leads_to_another_document_is_told(path: Path) -> None:
    """One bit in the index of ids: `get` gave another document."""
    content = path.read_bytes()
    places = [at for at in range(len(content)) if content.startswith(b"d50", at)]
    entry = max(
        places, key=lambda at: content[at - 40 : at + 40].count(b"d")
    )  # ids stand closer in their index
    path.write_bytes(content[: entry + 2] + b"!" + content[entry + 3 :])
    with closing(open_storage(path, mode="read")) as storage:
        assert storage.ids([50]) == ["d50"]
        with pytest.raises(StoreFormatError, match=r"document 50 of .* is damaged \(the index of ids"):
            storage.numbers(["d5!"])
        with pytest.raises(StoreFormatError, match="is damaged"):
            storage.check()


def test_blocks_hold_what_the_format_says(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        parts = dict(connection.execute("SELECT number, parts FROM run"))
        rows = connection.execute(
            "SELECT place, checksum, keys, numbers FROM block ORDER BY place"
        ).fetchall()
    for place, checksum, key_bytes, number_bytes in rows:
        keys, numbers = np.frombuffer(key_bytes, "<u8"), np.frombuffer(number_bytes, "<u4")
        assert len(keys) == len(numbers)
        assert (np.diff(keys.astype(object)) >= 0).all()
        part = place & 0xFFFFFFFF
        assert {(int(key) >> 32) * parts[place >> 32] >> 32 for key in keys} == {part}
        assert zlib.crc32(key_bytes + number_bytes, part) == checksum


def test_a_second_writer_is_told_and_the_first_goes_on(path: Path) -> None:
    with closing(open_storage(path)) as first, closing(open_storage(path, timeout=0.05)) as second:
        first.add(["x"], [b""], keys_of([1, 2, 3, 4]))
        with pytest.raises(StoreLockedError, match=r"being written by another .*waited 0.05 s.*mode='read'"):
            second.remove(["d50"])
        assert len(second) == 98
        first.commit()
        assert second.remove(["d50"]) == 1
        second.commit()
        assert len(first) == len(second) == 98


def test_a_reader_sees_commits_and_nothing_else(path: Path) -> None:
    key = keys_of([11, 12, 13, 14])
    with closing(open_storage(path)) as writer, closing(open_storage(path, mode="read")) as reader:
        with reader.snapshot():
            assert found_ids(reader, key) == [set()]
            writer.add(["x"], [b""], key)
            writer.commit()
            assert found_ids(reader, key) == [set()], "within a snapshot nothing changes"
        assert found_ids(reader, key) == [{"x"}]
        writer.add(["y"], [b""], key)
        assert found_ids(reader, key) == [{"x"}]
        assert found_ids(writer, key) == [{"x", "y"}]


def test_reading_changes_nothing(path: Path) -> None:
    with closing(open_storage(path, mode="read")) as reader:
        for change in (
            lambda: reader.add(["a"], [b""], keys_of([1])),
            lambda: reader.remove(["d50"]),
            reader.compact,
        ):
            with pytest.raises(StorageError, match="was opened with mode='read'"):
                change()
        reader.commit()
        reader.rollback()


def test_changes_inside_a_snapshot_are_refused(path: Path) -> None:
    with closing(open_storage(path)) as storage:
        with pytest.raises(StorageError, match="a snapshot is read-only"), storage.snapshot():
            storage.remove(["d50"])
        assert storage.remove(["d50"]) == 1


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the superuser's right to write everywhere."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_file_in_a_read_only_folder_can_be_read(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(path, folder))
        copy.chmod(0o444)
        Path(folder).chmod(0o555)
        try:
            with as_nobody(), closing(open_storage(copy, mode="read")) as storage:
                assert len(storage) == 98
                storage.check()
            with (
                as_nobody(),
                pytest.raises(StorageError, match="readonly"),
                closing(open_storage(copy)) as storage,
            ):
                storage.remove(["d50"])
        finally:
            Path(folder).chmod(0o755)


def test_a_file_can_be_named_anything(tmp_path: Path) -> None:
    path = tmp_path / "ö % ?mode=ro #1.benzer"
    with closing(open_storage(path, SETTINGS)) as storage:
        storage.add(["a"], [b"1"], keys_of([1]))
        storage.commit()
        with closing(open_storage(path, mode="read")) as reader:
            assert state_of(reader) == [("a", b"1")]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_failure_in_mid_change_undoes_the_transaction(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the disk is full: what was committed stays, the change is gone, and work goes on."""
    with closing(FileStorage(path, limits=SMALL)) as storage:
        before = state_of(storage)

        def fail(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as patched:
            patched.setattr("benzer.storage.session.move_to_runs", fail)
            with pytest.raises(StorageError, match="database or disk is full"):
                storage.add(*corpus(90, seed=9))
        assert state_of(storage) == before
        storage.check()
        storage.add(*corpus(90, seed=9))
        storage.commit()
        storage.check()


def test_an_interrupt_in_mid_change_undoes_the_transaction(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(FileStorage(path, limits=SMALL)) as storage:

        def interrupted(*arguments: object) -> None:
            move_to_runs(*arguments)  # type: ignore[arg-type]
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("benzer.storage.session.move_to_runs", interrupted)
            with pytest.raises(KeyboardInterrupt):
                storage.add(*corpus(90, seed=9))
        storage.check()
        assert len(storage) == 98


def test_uncommitted_changes_are_not_pickled(path: Path) -> None:
    with closing(open_storage(path)) as storage:
        storage.remove(["d50"])
        with pytest.raises(StorageError, match="has 1 uncommitted changes: commit before pickling"):
            pickle.dumps(storage)


def test_removals_alone_are_purged_in_time(path: Path) -> None:
    with closing(FileStorage(path, limits=SMALL)) as storage:
        for number in range(2, 95):
            storage.remove([f"d{number}"])
            storage.commit()
            assert storage.info()["removed"] <= max(4, len(storage) + 1)
        storage.check()


def test_compacting_gives_space_back(path: Path) -> None:
    with closing(open_storage(path)) as storage:
        storage.add(
            [f"big{number}" for number in range(500)], [bytes(2000)] * 500, np.zeros((500, 4), np.uint64)
        )
        storage.commit()
        storage.remove([f"big{number}" for number in range(500)])
        storage.compact()
        assert storage.info()["bytes"] < 100_000
        assert len(storage) == 98
        storage.check()
