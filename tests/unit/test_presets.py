"""Do the presets do what they say, and is their evidence that of the page?"""

from __future__ import annotations

import random
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from benzer import find_duplicates
from benzer.errors import SettingsError
from benzer.fields import Text
from benzer.presets import PRESETS, Preset, preset
from tests.corpora import edited, prose
from tests.reference import similarity
from tests.reference.text import Recipe
from tests.results import Id, pairs_of, true_pairs

PAGE = Path(__file__).parents[2] / "docs" / "quality.md"
every_preset = pytest.mark.parametrize("name", list(PRESETS))


def recipe_of(text: Text) -> Recipe:
    """The same reading for the reference."""
    assert text.shingle_size is not None
    return Recipe(text.unit, text.shingle_size, case=text.case, punctuation=str(text.punctuation))


def misprinted(choice: random.Random, text: str, share: float) -> str:
    """The text with a share of its letters replaced."""
    return "".join(
        choice.choice("abcdefghijklmnopqrstuvwxyz") if choice.random() < share else one for one in text
    )


def versions(seed: int) -> dict[Id, str | bytes]:
    """Texts with edited and misprinted copies, each ever less like the first."""
    choice = random.Random(seed)
    texts: dict[Id, str | bytes] = {}
    for story in range(12):
        words = prose(choice, 60)
        texts[f"{story}"] = " ".join(words)
        texts |= {
            f"{story} edits {count}": " ".join(edited(choice, words, count)) for count in (1, 4, 10, 25)
        }
        texts |= {
            f"{story} noise {share}": misprinted(choice, " ".join(words), share) for share in (0.02, 0.08)
        }
    return texts


@every_preset
def test_a_preset_finds_the_pairs_that_the_reference_finds(name: str) -> None:
    chosen, texts = PRESETS[name], versions(1)
    expected = true_pairs(texts, recipe_of(chosen.text), chosen.threshold)
    assert len(expected) > 12, "the texts must hold pairs for this preset"
    found = find_duplicates(texts, **chosen.arguments() | {"recall": 1 - 1e-9})
    assert pairs_of(found.expanded_pairs()) == expected


@every_preset
def test_a_preset_is_passed_on_as_it_is(name: str) -> None:
    chosen = preset(name)
    found = find_duplicates({"a": "some words", "b": "others here"}, **chosen.arguments())
    assert (found.threshold, found.recall) == (chosen.threshold, chosen.recall)
    assert found.settings.schema == chosen.schema
    assert chosen.schema.fields["text"] == chosen.text


def test_noise_that_hides_a_page_from_web_is_seen_by_ocr() -> None:
    """Each misprint spoils three shingles of words, and five of characters: of a far larger number."""
    choice = random.Random(3)
    clean = " ".join(prose(choice, 80))
    noisy = misprinted(choice, clean, 0.04)
    for name, alike in (("web", False), ("ocr", True)):
        chosen = PRESETS[name]
        value = similarity.text_similarity(clean, noisy, recipe_of(chosen.text))
        assert (value >= chosen.threshold) is alike
        assert bool(find_duplicates({"a": clean, "b": noisy}, **chosen.arguments()).removed) is alike


def test_records_of_another_word_order_are_near_duplicates() -> None:
    records = {
        "a": "Gravano, Garcia-Molina, Tomasic: The effectiveness of GlOSS for text database discovery, SIGMOD 1994",
        "b": "L. Gravano, H. Garcia-Molina, A. Tomasic. The effectiveness of GlOSS. SIGMOD Conference 1994",
        "c": "Stonebraker: The design and implementation of the Postgres storage system, VLDB 1987",
    }
    assert list(find_duplicates(records, **preset("record").arguments()).removed) == ["b"]


def test_a_preset_cannot_be_changed_and_an_unknown_one_names_the_others() -> None:
    with pytest.raises(FrozenInstanceError):
        preset("web").threshold = 0.5  # type: ignore[misc]
    with pytest.raises(TypeError):
        PRESETS["mine"] = preset("web")  # type: ignore[index]
    with pytest.raises(SettingsError, match='no preset "book": choose one of web, record, code, ocr'):
        preset("book")


@every_preset
def test_the_evidence_is_what_the_page_of_measurements_says(name: str) -> None:
    """Every figure in a preset's evidence stands in the row of its set, in the table of presets."""
    column = 3 + list(PRESETS).index(name)
    page = PAGE.read_text(encoding="utf-8")
    table = page.split("<!-- generated: presets -->")[1].split("<!-- end: presets -->")[0]
    rows = {cells[0]: cells for line in table.splitlines() if (cells := line.strip("| ").split(" | "))}
    claims = re.findall(r"([a-z_0-9]+) (?:F1|ARI) (0\.\d+|1\.0+)", PRESETS[name].evidence)
    assert claims, "each preset has evidence"
    for data, figure in claims:
        assert rows[data][column].split(" ")[0] == figure, data


def test_each_preset_says_why() -> None:
    for name, one in PRESETS.items():
        assert isinstance(one, Preset)
        assert one.name == name
        assert one.why.endswith(".")
        assert one.evidence.endswith(".")
