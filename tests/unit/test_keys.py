"""A file of keys gives no key away, is never half written, and what it no longer holds ends at once."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from benzer.errors import SettingsError
from benzer.service.keys import Keyring, Rates, Sessions, add_key, keyring, read_keys, remove_key
from benzer.service.keys.rates import MOST_BUCKETS
from benzer.service.keys.sessions import MOST_OF_A_KEY, SECONDS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "service.keys"


# The file


def test_a_key_is_found_again_with_what_it_may_do(path: Path) -> None:
    made = [add_key(path, "reader"), add_key(path, "writer", "write", 90)]
    ring = Keyring(path)
    for key, secret in made:
        assert ring.find(secret) == key
    assert [(key.name, key.scopes, key.rate) for key, _ in made] == [
        ("reader", ("read",), None),
        ("writer", ("read", "write"), 90),
    ]
    assert read_keys(path) == [key for key, _ in made]


def test_the_file_holds_a_hash_and_nothing_of_the_secret(path: Path) -> None:
    key, secret = add_key(path, "ci")
    random = secret.removeprefix(f"bz_{key.id}_")
    assert len(random) == 43  # 256 bits, 6 in each character
    held = path.read_text()
    assert not any(random[i : i + 8] in held for i in range(len(random) - 7))
    assert sha256(secret.encode()).hexdigest() in held


def test_only_its_owner_reads_the_file(path: Path) -> None:
    before = os.umask(0)
    try:
        add_key(path, "one")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode, kept", [(0o600, 0o600), (0o640, 0o640), (0o644, 0o640), (0o400, 0o600)])
def test_a_group_that_could_read_the_file_still_can_after_a_change(path: Path, mode: int, kept: int) -> None:
    add_key(path, "one")
    path.chmod(mode)
    add_key(path, "two")
    assert stat.S_IMODE(path.stat().st_mode) == kept


def test_the_file_that_a_link_names_is_changed_and_the_link_stays(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.keys"
    link.parent.mkdir()
    link.symlink_to(path)
    add_key(path, "one")
    add_key(link, "two")
    assert link.is_symlink()
    assert [key.name for key in read_keys(path)] == ["one", "two"]


def test_keys_that_are_made_at_the_same_time_are_all_kept(path: Path) -> None:
    names = [f"key {number}" for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda name: add_key(path, name), names))
    ring = Keyring(path)
    assert sorted(key.name for key in read_keys(path)) == sorted(names)
    assert all(ring.find(secret) == key for key, secret in made)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_change_that_fails_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_key(path, "one")
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        add_key(path, "two")
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("name, scope, rate, reason", [
    ("", "read", None, "a key name must have 1 to 64 printable characters, got ''"),
    ("a\nb", "read", None, "printable"),
    ("x" * 65, "read", None, "1 to 64"),
    ("one", "read", None, "key 'one' already exists"),
    ("two", "admin", None, "must be read or write, got 'admin'"),
    ("two", "read", 0, "must be > 0 requests per minute, got 0"),
    ("two", "read", float("nan"), "must be > 0"),
    ("two", "read", float("inf"), "must be > 0"),
    ("two", "read", True, "must be > 0"),
])  # fmt: skip
def test_a_wrong_key_is_not_made(path: Path, name: str, scope: str, rate: Any, reason: str) -> None:
    add_key(path, "one")
    with pytest.raises(SettingsError, match=reason):
        add_key(path, name, scope, rate)
    assert [key.name for key in read_keys(path)] == ["one"]


def changed(**changes: Any) -> dict[str, Any]:
    key = {"id": "00000000", "name": "a", "scopes": ["read"], "created": "", "sha256": "0" * 64, "rate": None}
    return {"format": 1, "keys": [{**key, **changes}]}


@pytest.mark.parametrize("stored", [
    b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"format": 1}', b'{"format": 2, "keys": []}',
    *(json.dumps(one).encode() for one in (
        changed(sha256=""), changed(sha256=None), changed(id=3), changed(name=None), changed(scopes=["admin"]),
        changed(scopes=[]), changed(scopes="read"), changed(scopes=None), changed(rate=-1), changed(rate="5"),
        changed(other=1), {"format": 1, "keys": [3]}, {"format": 1, "keys": changed()["keys"] * 2},
    )),
])  # fmt: skip
def test_a_file_that_is_not_one_of_keys_lets_nobody_in(path: Path, stored: bytes) -> None:
    path.write_bytes(stored)
    path.chmod(0o600)
    for use in (Keyring, read_keys, lambda path: add_key(path, "b")):
        with pytest.raises(SettingsError, match="is not a valid key file"):
            use(path)
    assert path.read_bytes() == stored


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_refused(path: Path, mode: int) -> None:
    add_key(path, "one")
    path.chmod(mode)
    with pytest.raises(SettingsError, match=f"mode {mode:04o}.*chmod 600"):
        Keyring(path)


# The ring


def test_the_ring_follows_its_file(path: Path) -> None:
    key, secret = add_key(path, "one")
    ring = Keyring(path)
    for turn in range(20):  # within one tick of the clock, too
        other, second = add_key(path, "two")
        assert ring.find(second) == other, turn
        remove_key(path, "two")
        assert ring.find(second) is None, turn
    assert ring.find(secret) == key
    remove_key(path, key.id)
    assert ring.find(secret) is None
    assert ring.get(key.id) is None


def test_the_ring_sees_a_file_of_the_same_size_that_was_written_at_once(path: Path) -> None:
    key, secret = add_key(path, "one")
    ring, held = Keyring(path), path.read_text()
    for name in ("two", "six", "ten"):
        new = path.with_name("new")
        new.write_text(held.replace('"one"', f'"{name}"'))
        new.chmod(0o600)
        new.replace(path)
        assert ring.find(secret) == replace(key, name=name)


def test_a_ring_whose_file_is_gone_or_broken_knows_nobody(path: Path) -> None:
    _, secret = add_key(path, "one")
    ring, held = Keyring(path), path.read_bytes()
    path.write_text("{")
    for _ in range(2):
        with pytest.raises(SettingsError):
            ring.find(secret)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        ring.find(secret)
    path.write_bytes(held)
    path.chmod(0o600)
    assert ring.find(secret) is not None


def test_what_is_no_key_of_the_ring_is_not_found(path: Path) -> None:
    key, secret = add_key(path, "one")
    other, _ = add_key(path, "two", "write")
    ring = Keyring(path)
    random = secret.removeprefix(f"bz_{key.id}_")
    wrong = [
        "", "_", "bz", "bz_", f"bz_{key.id}", f"bz_{key.id}_", f"bz_{other.id}_{random}", secret[:-1], secret + "A",
        secret.upper(), f"xx_{key.id}_{random}", f" {secret}", key.sha256, f"bz_{key.id}_{key.sha256}", "\ud800",
        "é" * 99,
    ]  # fmt: skip
    assert [ring.find(one) for one in wrong] == [None] * len(wrong)


def test_an_unknown_id_is_compared_as_a_known_one_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, _ = add_key(path, "one")
    ring, compared = Keyring(path), []

    def compare(ours: str, theirs: str) -> bool:
        compared.append((len(ours), len(theirs)))
        return ours == theirs

    monkeypatch.setattr(keyring, "compare_digest", compare)
    for secret in (f"bz_{key.id}_wrong", "bz_ffffffff_wrong", "nonsense"):
        assert ring.find(secret) is None
    assert compared == [(64, 64)] * 3


# Rates and sessions


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("rate", [0.5, 1, 7, 60, 6000])
def test_a_minute_s_requests_may_come_at_once_and_then_at_the_rate(rate: float) -> None:
    clock = Clock()
    rates = Rates(clock)
    burst = max(1, int(rate))
    assert [rates.wait("a", rate) for _ in range(burst)] == [0.0] * burst
    wait = rates.wait("a", rate)
    assert wait == pytest.approx(60 / rate)
    clock.now += wait * 0.99
    assert rates.wait("a", rate) > 0
    clock.now += wait * 0.02
    assert rates.wait("a", rate) == 0
    assert rates.wait("a", rate) > 0


def test_a_rate_of_next_to_nothing_lets_one_request_pass() -> None:
    rates = Rates(Clock())
    assert rates.wait("a", 1e-320) == 0
    assert 0 < rates.wait("a", 1e-320) < float("inf")


def test_each_client_has_a_bucket_and_the_number_of_buckets_is_bounded() -> None:
    clock = Clock()
    rates = Rates(clock)
    for number in range(MOST_BUCKETS + 50):
        clock.now += 1e-6
        assert rates.wait(str(number), 1) == 0
    assert 0.9 * MOST_BUCKETS <= len(rates._full_at) <= MOST_BUCKETS
    assert rates.wait(str(MOST_BUCKETS + 49), 1) > 0  # the last are still known
    clock.now += 60
    for number in range(MOST_BUCKETS):
        assert rates.wait(f"later {number}", 1) == 0
    assert len(rates._full_at) == MOST_BUCKETS
    assert not any(who.isdigit() for who in rates._full_at)  # full buckets are dropped first


def test_sessions_end_by_themselves_by_a_logout_and_by_others_of_the_same_key() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    first, other = sessions.begin("a"), sessions.begin("b")
    assert (sessions.key_of(first), sessions.key_of(other), sessions.key_of("")) == ("a", "b", None)
    mine = [sessions.begin("a") for _ in range(MOST_OF_A_KEY)]
    assert sessions.key_of(first) is None
    assert [sessions.key_of(one) for one in mine] == ["a"] * MOST_OF_A_KEY
    assert len(sessions) == MOST_OF_A_KEY + 1
    sessions.end(other)
    sessions.end("unknown")
    assert sessions.key_of(other) is None
    clock.now += SECONDS
    assert sessions.key_of(mine[-1]) is None
    sessions.begin("a")
    assert len(sessions) == 1
