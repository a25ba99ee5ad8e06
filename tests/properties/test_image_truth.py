"""On real photographs: the copies that each method must find, and its recall, in a part of the labelled set."""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benzer import Bands, Schema, find_duplicates, jaccard
from benzer.document import Description
from benzer.fields import Image

pytestmark = pytest.mark.shared_data
ORIGINALS, COMPARED = 12, 5
PHOTOMETRIC = ("jpeg_q50", "jpeg_q15", "resize_50pct", "aspect_x075", "bright_075", "gray")
GEOMETRIC = ("crop_05", "crop_10", "crop_20", "rot_2", "rot_5", "combo_crop05_rot1_q40")

# The least share found at the advised threshold, of 72 pairs each. docs/image-recall.md has the whole set; with
# its shares p, fewer than 72 p - 6 sqrt(72 p (1 - p)) would be found in a part taken at random once in a billion.
LEAST = {
    ("grid", PHOTOMETRIC): 0.87,
    ("grid", GEOMETRIC): 0.40,
    ("local", PHOTOMETRIC): 0.90,
    ("local", GEOMETRIC): 0.94,
}  # fmt: skip


@cache
def files(folder: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(folder / "images_transformed" / "images.zip") as packed:
        wanted = [name for name in packed.namelist() if Path(name).name[:4] < f"{ORIGINALS:04}"]
        return {Path(name).stem: packed.read(name) for name in wanted if Path(name).suffix == ".jpg"}


@cache
def described(folder: Path, method: str) -> dict[str, bytes]:
    found = Image(method).describe(list(files(folder).values()), threads=0)
    return {name: one for name, one in zip(files(folder), found, strict=True) if isinstance(one, bytes)}


@pytest.mark.parametrize("method, transforms", LEAST, ids=lambda value: str(value)[:8])
def test_copies_are_found(method: str, transforms: tuple[str, ...], shared_data: Path) -> None:
    descriptions = described(shared_data, method)
    field = Image(method)
    found = [
        similarity >= field.threshold
        for number in range(ORIGINALS)
        for similarity in field.compare(
            descriptions[f"{number:04}"], [descriptions[f"{number:04}_{name}"] for name in transforms]
        )
    ]
    assert sum(found) / len(found) >= LEAST[method, transforms]


@pytest.mark.parametrize("method", ["grid", "local"])
def test_different_photographs_are_kept_apart(method: str, shared_data: Path) -> None:
    """12 originals, 66 pairs: at the measured rate of wrong pairs, 0.005 % or less, none is to be expected."""
    originals = [described(shared_data, method)[f"{number:04}"] for number in range(ORIGINALS)]
    field = Image(method)
    for at, one in enumerate(originals):
        assert (field.compare(one, originals[at + 1 :]) < field.threshold).all()


def compared(folder: Path) -> dict[str, bytes]:
    """The first originals and their copies: few enough to compare all with all again and again."""
    return {name: one for name, one in described(folder, "local").items() if int(name[:4]) < COMPARED}


@cache
def true_pairs(folder: Path) -> dict[tuple[str, str], float]:
    """The pairs that `local` finds similar when all images are compared, with the Jaccard similarity of their words."""
    field, descriptions = Image("local"), compared(folder)
    words = {name: set(field.encoded_sets([one])[1].tolist()) for name, one in descriptions.items()}
    names = sorted(descriptions)
    return {
        (one, other): jaccard(words[one], words[other])
        for at, one in enumerate(names[:-1])
        for other, similarity in zip(
            names[at + 1 :],
            field.compare(descriptions[one], [descriptions[name] for name in names[at + 1 :]]),
            strict=True,
        )
        if similarity >= field.threshold
    }


@pytest.mark.parametrize("recall", [0.5, 0.95, 0.99, 0.999])
def test_bands_for_local_images_find_the_promised_share_of_true_pairs(
    recall: float, shared_data: Path
) -> None:
    least = Image("local").band_threshold(0.5)
    bands = Bands.for_recall(least, recall, num_hashes=2000)
    assert np.mean(bands.probability(np.array(list(true_pairs(shared_data).values())))) >= recall


@pytest.mark.parametrize("recall", [0.3, 0.95, 0.99])
def test_the_measured_recall_of_local_images_is_that_of_comparing_all(
    recall: float, shared_data: Path
) -> None:
    true, field = true_pairs(shared_data), Image("local")
    documents = [{"id": name, "image": Description(one)} for name, one in compared(shared_data).items()]
    run = find_duplicates(documents, schema=Schema(image=field), threshold=field.threshold, recall=recall)
    reported = {tuple(sorted((str(pair.left_id), str(pair.right_id)))) for pair in run.pairs}
    assert reported <= set(true)
    shares: dict[str, list[bool]] = {}
    for pair in true:
        for one in pair:
            shares.setdefault(one, []).append(pair in reported)
    estimate = run.measure_recall()
    assert estimate.exhaustive
    assert estimate.recall == pytest.approx(np.mean([np.mean(hits) for hits in shares.values()]))
    assert estimate.pair_recall == pytest.approx(len(reported) / len(true))
    assert len(reported) / len(true) >= recall
    sample = run.measure_recall(documents=30)
    assert sample.low <= estimate.recall <= sample.high
