"""A sample stands for a collection: drawn by a seed, in order of arrival, of documents that are held."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from benzer.errors import SettingsError
from benzer.index import Index
from benzer.index import documents as documents_module


@pytest.fixture(params=["memory:", "file"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    location = "memory:" if request.param == "memory:" else tmp_path / "docs.benzer"
    with Index.open(location) as opened:
        yield opened


def churn(index: Index, steps: int) -> Any:
    """Add, replace and remove documents, and stop after each step."""
    choice = random.Random(11)
    for step in range(steps):
        name = f"d{choice.randrange(40)}"
        if choice.random() < 0.6:
            index.add({name: f"text {name} of step {step}"})
        else:
            index.remove([name])
        yield step


def test_equal_states_are_those_of_equal_documents(index: Index) -> None:
    seen: dict[tuple[int, int], list[Any]] = {index.state(): []}
    for _ in churn(index, 200):
        held = [(one.id, one.fields) for one in index.documents()]
        assert seen.setdefault(index.state(), held) == held
    assert len(seen) > 150


@pytest.mark.parametrize("numbers_looked_at", [0, 100_000])
def test_a_sample_is_of_documents_that_are_held_in_order(
    index: Index, numbers_looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents_module, "_ALL", numbers_looked_at)
    for _ in churn(index, 100):
        held = list(index.documents())
        sample = index.sample(8)
        assert sample == [one for one in held if one in sample]
        assert len(sample) == min(8, len(held)) or not numbers_looked_at
        assert sample or not held
        assert sample == index.sample(8)
        assert index.sample(1000) == held or not numbers_looked_at


def test_samples_of_many_seeds_give_each_document_its_share(index: Index) -> None:
    index.add({number: f"text number {number}" for number in range(20)})
    drawn = [one.id for seed in range(400) for one in index.sample(5, seed=seed)]
    # Each of 400 draws takes a document with probability 1/4: five standard deviations are 44.
    assert all(abs(drawn.count(number) - 100) <= 44 for number in range(20))


def test_a_sample_has_no_more_bytes_than_allowed_but_one_document(index: Index) -> None:
    index.add(dict.fromkeys(range(20), "x" * 100))
    assert len(index.sample(20, most_bytes=350)) == 3
    assert len(index.sample(20, most_bytes=1)) == 1
    assert index.sample(20, most_bytes=10**6) == list(index.documents())


@pytest.mark.parametrize(
    "options", [{"count": 0}, {"count": 1.5}, {"count": 1, "most_bytes": 0}, {"count": 1, "seed": -1}]
)
def test_no_sample_at_all_is_refused(index: Index, options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        index.sample(**options)
