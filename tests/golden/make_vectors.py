"""Write vectors.json from the reference: `python -m tests.golden.make_vectors`.

The file pins what a signature is, across versions, processors and machines. It changes only together with the
rules of the reference, and then every stored index is out of date.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.reference import bands, hashing, minhash, text
from tests.reference.strings import STRING_HASHES
from tests.reference.text import Recipe

PATH = Path(__file__).with_name("vectors.json")
NUM_HASHES, BANDS, ROWS, FIELDS = 8, 2, 4, (0, 1)
SEEDS = (0, 42)
TEXTS = {
    "empty": "",
    "one token": "Benzer",
    "short": "two words",
    "plain": "The quick brown fox jumps over the lazy dog, and the quick brown fox jumps again.",
    "accents, decomposed": "Le cafe\u0301 cre\u0300me de l\u2019e\u0301te\u0301 a\u0300 Zu\u0308rich",
    "folding": "STRASSE Straße ﬁn ΟΔΥΣΣΕΥΣ İstanbul Ⅷ ＡＢＣ１２３",
    "Chinese": "近似重複檢測 finds 相似文件",
    "Thai": "ไทยน้ำใจ ภาษาไทย",
    "Hindi": "यह एक हिन्दी वाक्य है",
    "signs": "snake_case + 3.14 €, co\u00adop \u200d 👩\u200d👧 e-mail@x.org\x00\ud800 end",
    "long token": "a" * 15 + " " + "b" * 16 + " " + "c" * 17 + " " + "d" * 100,
}
RECIPES = {
    "default": Recipe(),
    "characters": Recipe("char", 5),
    "plain words": Recipe("word", 2, "alnum", "none", "lower"),
    "all characters": Recipe("char", 9, normalize="none", case="keep", punctuation="keep", whitespace="keep"),
    "punctuation": Recipe("word", 4, normalize="nfc", punctuation="keep", stop_words=("The", "and")),
}
# What came later is pinned apart: the elements only, as sketches know nothing of where they come from.
LATER = {
    "bag": Recipe("word", 1, stop_words=("jumps",), frequencies=True),
    "bag of four bytes": Recipe("char", 2, hash_bytes=4, frequencies=True),
    "four bytes": Recipe(hash_bytes=4),
    "djb2a": Recipe("char", 3, shingle_hash="djb2a"),
    "murmur3_32": Recipe("word", 2, shingle_hash="murmur3_32"),
    "murmur3_128": Recipe("word", 3, shingle_hash="murmur3_128", hash_bytes=4, frequencies=True),
}
LATER_OPTIONS = ("shingle_hash", "hash_bytes", "frequencies")
VALUES: dict[str, list[str | int]] = {
    "mixed": ["red", "grün", "", 7, "7", -7, 2**63, -(2**63)],
    "many": list(range(100)),
}


def sketches(hashes: list[int]) -> dict[str, Any]:
    """The signatures of a set by algorithm and seed, and the band keys of each."""
    return {
        f"{algorithm} {seed}": {
            "signature": (signature := minhash.signature(algorithm, hashes, NUM_HASHES, seed)),
            "band_keys": [
                [f"{key:016x}" for key in bands.band_keys(signature, BANDS, ROWS, field)] for field in FIELDS
            ],
        }
        for algorithm in minhash.ALGORITHMS
        for seed in SEEDS
    }


def settings(recipe: Recipe) -> dict[str, Any]:
    """The options of a recipe; those that came later where they are not as they have always been."""
    options = asdict(recipe) | {"stop_words": list(recipe.stop_words)}
    plain = asdict(Recipe())
    return {
        name: value for name, value in options.items() if name not in LATER_OPTIONS or value != plain[name]
    }


def element_vector(name: str, recipe: Recipe) -> dict[str, Any]:
    """The elements of one text by one recipe."""
    elements = hashing.shingle_hashes(TEXTS[name], recipe, STRING_HASHES)
    return {"text": TEXTS[name], "recipe": settings(recipe), "elements": [f"{one:x}" for one in elements]}


def text_vector(name: str, recipe_name: str) -> dict[str, Any]:
    """All that is pinned of one text by one recipe."""
    recipe = RECIPES[recipe_name]
    hashes = hashing.shingle_hashes(TEXTS[name], recipe)
    return {
        "text": TEXTS[name],
        "recipe": settings(recipe),
        "tokens": text.word_tokens(TEXTS[name], recipe) if recipe.unit == "word" else None,
        "shingle_hashes": [f"{value:016x}" for value in hashes],
        "sketches": sketches(hashes),
    }


def value_vector(values: list[str | int]) -> dict[str, Any]:
    """All that is pinned of one value set."""
    return {
        "values": values,
        "hashes": [f"{hashing.value_hash(value):016x}" for value in values],
        "sketches": sketches(hashing.value_set(values)),
    }


def make_vectors() -> dict[str, Any]:
    """The content of vectors.json."""
    return {
        "num_hashes": NUM_HASHES,
        "bands": BANDS,
        "rows": ROWS,
        "texts": {f"{name} / {recipe}": text_vector(name, recipe) for name in TEXTS for recipe in RECIPES},
        "elements": {
            f"{name} / {later}": element_vector(name, recipe)
            for name in ("empty", "plain", "folding")
            for later, recipe in LATER.items()
        },
        "value_sets": {name: value_vector(values) for name, values in VALUES.items()},
    }


def packed(value: Any, indent: int = 0) -> str:
    """JSON with short lists on one line."""
    flat = json.dumps(value)
    if len(flat) + indent <= 108 or not isinstance(value, dict | list) or not value:
        return flat
    inside = " " * (indent + 1)
    if isinstance(value, list):
        items = [packed(item, indent + 1) for item in value]
        return "[\n" + ",\n".join(inside + item for item in items) + "\n" + " " * indent + "]"
    pairs = [f"{json.dumps(key)}: {packed(item, indent + 1)}" for key, item in value.items()]
    return "{\n" + ",\n".join(inside + pair for pair in pairs) + "\n" + " " * indent + "}"


if __name__ == "__main__":
    PATH.write_text(packed(make_vectors()) + "\n", encoding="utf-8")
