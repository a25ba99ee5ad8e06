"""The method local: parts of pictures, turned and scaled, are found again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from benzer.fields import Image
from benzer.fields.image import words
from benzer.fields.image.local import MOST_KEPT, cells_of, consistent, mutual_matches, spread, unpacked
from benzer.fields.image.opencv import OneThread
from tests.images import as_file, flat, scene
from tests.reference.hashing import split_mix

LOCAL = Image("local")


def large(seed: int) -> np.ndarray:
    """A scene with enough corners for hundreds of features."""
    return np.asarray(Pillow.fromarray(scene(seed, 120, 160)).resize((480, 360), Pillow.Resampling.BICUBIC))


def turned(picture: np.ndarray, degrees: float) -> np.ndarray:
    return np.asarray(
        Pillow.fromarray(picture).rotate(
            degrees, Pillow.Resampling.BICUBIC, expand=True, fillcolor=(90, 90, 90)
        )
    )


def covered(picture: np.ndarray) -> np.ndarray:
    changed = picture.copy()
    changed[:140] = scene(99, 140, picture.shape[1])
    return changed


CHANGES = {
    "a crop of 30 %": lambda picture: picture[50:300, 70:400],
    "a turn by 10 degrees": lambda picture: turned(picture, 10),
    "a turn by 90 degrees": lambda picture: np.rot90(picture).copy(),
    "another aspect": lambda picture: np.asarray(Pillow.fromarray(picture).resize((360, 360))),
    "half the size": lambda picture: np.asarray(Pillow.fromarray(picture).resize((240, 180))),
    "a part covered": covered,
    "JPEG": lambda picture: as_file(picture, "JPEG", quality=50),
    "darker": lambda picture: (picture * 0.7).astype(np.uint8),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_local_knows_a_copy_after(change: Any, seed: int) -> None:
    picture = large(seed)
    assert LOCAL.similarity(picture, change(picture)) >= LOCAL.threshold


def test_local_keeps_different_pictures_apart() -> None:
    descriptions = [LOCAL.encode(large(seed)) for seed in range(8)]
    for at, one in enumerate(descriptions):
        assert (LOCAL.compare(one, descriptions[at + 1 :]) < LOCAL.threshold).all()


def test_the_likeness_is_the_same_in_either_order() -> None:
    """Near the limit, where the trials of RANSAC and the nearest features differ from one side to the other."""
    pieces = [
        large(1),
        large(1)[:130, :200],
        turned(large(1)[150:], 25),
        covered(large(1))[100:],
        large(1)[200:, 300:],
    ]
    descriptions = [LOCAL.encode(np.ascontiguousarray(piece)) for piece in pieces]
    table = np.array([LOCAL.compare(one, descriptions) for one in descriptions])
    assert np.array_equal(table, table.T)


def test_a_mirrored_copy_is_found_by_asking_with_the_mirrored_picture() -> None:
    picture = large(1)
    mirrored = picture[:, ::-1].copy()
    assert LOCAL.similarity(picture, mirrored) < LOCAL.threshold
    assert LOCAL.similarity(picture[:, ::-1].copy(), mirrored) == 1.0


def test_a_flat_picture_has_no_feature() -> None:
    assert LOCAL.no_detail(flat(100, 200, 300))
    assert LOCAL.encode(flat(100, 200, 300)) == b"L1" + bytes([0, 128]) + bytes(
        [85, 85]
    )  # 512 and 341.33 x 64


def test_the_set_is_the_words_of_the_features() -> None:
    description = LOCAL.encode(large(2))
    features = unpacked(description)
    assert 100 < len(features.bits) <= MOST_KEPT
    assert len(description) == 6 + 25 * len(features.bits)
    expected = {
        table << 28 | (int.from_bytes(bits.tobytes(), "big") >> 28 * (5 - table)) % 2**28
        for bits in features.bits
        for table in range(6)
    }
    assert words.words_of(features.bits).tolist() == sorted(expected)


def test_the_projections_are_those_of_the_documented_generator() -> None:
    numbers = split_mix(0)
    expected = [next(numbers).bit_count() - 32 for _ in range(words.BITS * words.DIMENSIONS)]
    assert words.projections().ravel().tolist() == expected


def test_the_bits_are_the_signs_of_the_projections() -> None:
    features = np.random.default_rng(1).integers(0, 120, (5, 128), dtype=np.uint8)
    for row, packed in zip(features.tolist(), words.bits_of(features), strict=True):
        above = [
            sum(
                p * (value - mean)
                for p, value, mean in zip(projection, row, words.MEAN.tolist(), strict=True)
            )
            > 0
            for projection in words.projections().tolist()
        ]
        assert np.unpackbits(packed).astype(bool).tolist() == above


def test_differing_bits_are_counted() -> None:
    rng = np.random.default_rng(2)
    one, other = (rng.integers(0, 256, (count, 21), dtype=np.uint8) for count in (6, 4))
    expected = [
        [(int.from_bytes(a.tobytes(), "big") ^ int.from_bytes(b.tobytes(), "big")).bit_count() for b in other]
        for a in one
    ]
    assert words.differing_bits(one, other).tolist() == expected


def test_a_match_must_be_clear_and_mutual() -> None:
    distance = np.array([[10, 50, 60], [48, 40, 70], [12, 55, 90]], dtype=np.uint8)
    left, right = mutual_matches(distance)
    # The second row's nearest, 40, is not below 0.7 of 48; the third row's nearest prefers the first row.
    assert (left.tolist(), right.tolist()) == ([0], [0])
    assert len(mutual_matches(distance[:1])[0]) == 0


def test_matches_that_one_map_explains_are_kept() -> None:
    rng = np.random.default_rng(3)
    a = rng.uniform(0, 500, (40, 2)).astype(np.float32)
    b = (a @ np.array([[0.8, 0.3], [-0.2, 0.9]]) + [30, -20]).astype(np.float32)
    b[30:] = rng.uniform(0, 500, (10, 2))
    held = consistent(a, b)
    assert held[:30].all()
    assert held[30:].sum() <= 2


def test_three_matches_prove_nothing() -> None:
    points = np.array([[0, 0], [100, 0], [0, 100]], dtype=np.float32)
    assert not consistent(points, points).any()


def test_cells_count_where_features_lie() -> None:
    features = unpacked(LOCAL.encode(large(2)))
    everywhere = np.arange(len(features.bits))
    assert cells_of(features, everywhere[:0]) == 0
    assert cells_of(features, everywhere[:1]) == 1
    assert 32 < cells_of(features, everywhere) <= 64


def test_a_sharp_corner_does_not_take_all_places() -> None:
    """2,000 strong features in one cell, 100 weak ones elsewhere: every weak one is kept."""
    rng = np.random.default_rng(4)
    places = np.concatenate([rng.uniform(0, 0.1, (2000, 2)), rng.uniform(0.2, 1, (100, 2))])
    strength = np.concatenate([np.full(2000, 9.0), np.full(100, 1.0)])
    chosen = spread(places, strength)
    assert len(chosen) == MOST_KEPT
    assert set(range(2000, 2100)) <= set(chosen.tolist())


def test_opencv_keeps_its_threads() -> None:
    class Cv:
        threads = 5

        def getNumThreads(self) -> int:  # noqa: N802
            return self.threads

        def setNumThreads(self, count: int) -> None:  # noqa: N802
            self.threads = count

    cv, guard = Cv(), OneThread()
    with guard.limited(cv):
        with guard.limited(cv):
            assert cv.threads == 1
        assert cv.threads == 1
    assert cv.threads == 5
