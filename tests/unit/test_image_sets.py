"""The methods grid and seed16: their sets are those of the plain definition, and live through what they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benzer.document import Description, Document
from benzer.errors import InputError, SettingsError
from benzer.fields import FIELD_TYPES, Image, Schema
from benzer.fields.image import METHOD_THRESHOLDS, METHODS
from benzer.fields.image.grid import border, trimmed
from benzer.pipeline import find_duplicates
from tests.images import as_file, flat, resized, scene
from tests.reference import images

GRID, SEED16 = Image(), Image("seed16")
SIZES = [(1, 1), (3, 50), (16, 16), (17, 31), (40, 64), (97, 35)]


def rows(picture: Any) -> images.Picture:
    return [[tuple(pixel) for pixel in row] for row in picture.tolist()]


def set_of(field: Image, content: Any) -> list[int]:
    elements: list[int] = field.sets([content])[1].tolist()
    return elements


@pytest.mark.parametrize("height, width", SIZES)
def test_seed16_is_the_sources_set(height: int, width: int) -> None:
    picture = resized(scene(3), height, width)
    assert set_of(SEED16, picture) == images.seed16_set(rows(picture))
    assert len(set_of(SEED16, picture)) == 256


@pytest.mark.parametrize("height, width", SIZES)
def test_grid_is_the_plain_definition(height: int, width: int) -> None:
    picture = resized(scene(4), height, width)
    assert set_of(GRID, picture) == images.grid_set(rows(picture))


@pytest.mark.parametrize("edge", [0, 128, 255])
def test_grid_with_borders_is_the_plain_definition(edge: int) -> None:
    picture = np.full((60, 80, 3), edge, dtype=np.uint8)
    picture[6:57, 9:62] = scene(5, 51, 53)
    assert set_of(GRID, picture) == images.grid_set(rows(picture))
    assert trimmed(picture).shape == (51, 53, 3)


@pytest.mark.parametrize("range_, expected", [(12, 30), (13, 40)])
def test_a_border_may_vary_by_12(range_: int, expected: int) -> None:
    picture = np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    picture[:10] = 100
    picture[:10, ::7] = 100 + range_
    assert len(trimmed(picture)) == expected


@pytest.mark.parametrize("width", [1, 5, 40])
@pytest.mark.parametrize("flat_lines", [0, 1, 7, 255, 256, 599, 600, 700])
def test_as_many_lines_are_border_as_are_flat(flat_lines: int, width: int) -> None:
    picture = np.random.default_rng(1).integers(0, 256, (2000, width, 3), dtype=np.uint8)
    picture[:flat_lines] = 70
    lines = rows(picture[:600])
    expected = next((at for at, line in enumerate(lines) if not images.is_flat_line(line)), 600)
    assert border(picture) == expected
    assert border(picture[:3]) == 0


def test_the_greys_of_the_source_are_by_its_weights() -> None:
    red, green, blue = (np.full((16, 16, 3), 0, dtype=np.uint8) for _ in range(3))
    red[..., 0], green[..., 1], blue[..., 2] = 255, 255, 255
    expected = [int(0.299 * 255) // 16, int(0.587 * 255) // 16, int(0.114 * 255) // 16]
    for picture, grey in zip((red, green, blue), expected, strict=True):
        assert SEED16.shared(picture, picture)[0] == f"row 0, column 0: grey {grey}"


PHOTOMETRIC = {
    "half the size": lambda picture: resized(picture, 48, 64),
    "twice the size": lambda picture: resized(picture, 192, 256),
    "another aspect": lambda picture: resized(picture, 96, 96),
    "grey": lambda picture: as_file(picture, "PNG", mode="L"),
    "darker": lambda picture: (picture * 0.7).astype(np.uint8),
    "less contrast": lambda picture: (picture // 2 + 64).astype(np.uint8),
    "gamma": lambda picture: np.rint(255 * (picture / 255) ** 0.6).astype(np.uint8),
    "strong JPEG": lambda picture: as_file(picture, "JPEG", quality=15),
    "WebP": lambda picture: as_file(picture, "WEBP", quality=50),
    "noise": lambda picture: np.clip(
        picture + np.random.default_rng(0).normal(0, 8, picture.shape), 0, 255
    ).astype(np.uint8),
    "a white border": lambda picture: np.pad(
        picture, ((10, 10), (14, 14), (0, 0)), constant_values=255
    ),
    "a black letterbox": lambda picture: np.pad(picture, ((20, 20), (0, 0), (0, 0))),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("change", PHOTOMETRIC.values(), ids=PHOTOMETRIC)
def test_grid_knows_a_copy_after(change: Any, seed: int) -> None:
    picture = scene(seed)
    assert GRID.similarity(picture, change(picture)) >= GRID.threshold


def test_grid_keeps_different_pictures_apart() -> None:
    """Random rankings share 2 x 256/6 of 512 elements: a Jaccard similarity near 0.09; scenes stay below 0.3."""
    descriptions = [GRID.encode(scene(seed)) for seed in range(20)]
    for at, one in enumerate(descriptions):
        assert (GRID.compare(one, descriptions[at + 1 :]) < GRID.threshold).all()


def test_a_map_of_greys_that_keeps_their_order_changes_no_element() -> None:
    picture = scene(6)
    darker = picture.astype(np.int64) // 3 * 2
    twice = (darker // 2).astype(np.uint8)
    assert set_of(GRID, darker.astype(np.uint8)) == set_of(GRID, twice)


def test_brightness_undoes_the_sources_set() -> None:
    picture = scene(7)
    brighter = np.clip(picture.astype(int) + 40, 0, 255).astype(np.uint8)
    assert SEED16.similarity(picture, brighter) < 0.1 < 0.9 < GRID.similarity(picture, brighter)


@pytest.mark.parametrize("value", [0, 100, 255])
def test_a_flat_picture_has_no_detail_and_no_element(value: int) -> None:
    assert GRID.no_detail(flat(value))
    assert set_of(GRID, flat(value)) == []
    assert not SEED16.no_detail(flat(value))


def test_detail_begins_at_a_standard_deviation_of_4() -> None:
    """Half of the cells brighter by d, the others not: the standard deviation is d / 2."""
    brighter = np.indices((16, 16)).sum(axis=0) % 2
    for step, expected in ((7, True), (8, False)):
        assert GRID.no_detail((100 + step * brighter).astype(np.uint8)) == expected


def test_flat_pictures_are_not_duplicates_of_one_another() -> None:
    pictures = {"black": flat(0), "white": flat(255), "scene": scene(1), "copy": resized(scene(1), 60, 80)}
    documents = [Document(name, {"image": picture}) for name, picture in pictures.items()]
    result = find_duplicates(documents, schema=Schema(image=GRID), threshold=GRID.threshold)
    assert result.kept == ["black", "white", "scene"]


def test_shared_elements_are_told_to_people() -> None:
    picture = scene(8)
    shared = GRID.shared(picture, picture)
    assert len(shared) == 512
    assert shared[0].startswith("row 0, column 0: sixth ")
    assert shared[-1].startswith("row 15, column 15: moved sixth ")


def test_a_description_stands_for_the_picture() -> None:
    picture = scene(9)
    kept = Description(GRID.encode(picture))
    assert set_of(GRID, kept) == set_of(GRID, picture)
    assert len(kept.data) == 2 + 128


def test_a_description_of_another_method_is_refused() -> None:
    with pytest.raises(InputError, match="must start with b'G1' for the method \"grid\", got b'S1'"):
        GRID.encode(Description(SEED16.encode(scene(9))))


LEVEL_12 = b"G1" + bytes(127) + bytes([12 << 4])
DAMAGED = {
    ("grid", "an end is missing"): GRID.encode(scene(9))[:-1],
    ("grid", "too long"): GRID.encode(scene(9)) + b"\0",
    ("grid", "a thirteenth twelfth"): LEVEL_12,
    ("grid", "a thirteenth twelfth in the low half"): b"G1" + bytes([12]) + bytes(127),
    ("seed16", "the tag alone"): b"S1",
    ("seed16", "an end is missing"): SEED16.encode(scene(9))[:-1],
    ("local", "the tag alone"): b"L1",
    ("local", "half a feature"): b"L1" + bytes([0, 128, 0, 96]) + bytes(40),
    ("local", "no size"): b"L1" + bytes([0, 128, 0, 0]),
    ("local", "more features than are kept"): b"L1" + bytes([0, 128, 0, 96]) + bytes(501 * 25),
}


@pytest.mark.parametrize("method, fault", DAMAGED)
def test_a_damaged_description_is_refused(method: str, fault: str) -> None:
    field, data = Image(method), DAMAGED[method, fault]
    message = f'for the method "{method}" is damaged \\({len(data):,} bytes\\): describe the image again'
    whole = field.encode(scene(1))
    attempts = [
        lambda: field.encode(Description(data)),
        lambda: field.encoded_sets([data]),
        lambda: field.compare(data, [whole]),
        lambda: field.compare(whole, [whole, data]),
    ]
    for attempt in attempts:
        with pytest.raises(InputError, match=message):
            attempt()


@pytest.mark.parametrize("method", METHODS.names)
def test_every_description_that_is_made_fits(method: str) -> None:
    field = Image(method)
    contents = [flat(3), np.zeros((1, 1), dtype=np.uint8), *(resized(scene(4), *size) for size in SIZES)]
    for content in contents:
        description = field.encode(content)
        assert field.encode(Description(description)) == description


def test_an_unknown_method_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match='no image method "phash": choose one of grid, local, seed16'):
        Image("phash")


def test_every_method_has_an_advised_threshold() -> None:
    assert set(METHOD_THRESHOLDS) == set(METHODS.names)
    assert "image" in FIELD_TYPES.names
    for method, threshold in METHOD_THRESHOLDS.items():
        assert 0 < threshold < 1
        assert Image(method).threshold == threshold


@pytest.mark.parametrize("method", METHODS.names)
def test_threads_change_no_description(method: str) -> None:
    field = Image(method)
    contents = [scene(seed) for seed in range(8)]
    assert (
        field.describe(contents) == field.describe(contents, threads=4) == field.describe(contents, threads=0)
    )


@pytest.mark.parametrize("method", METHODS.names)
def test_equal_sets_are_alike_in_full_and_the_order_does_not_matter(method: str) -> None:
    field = Image(method)
    one, other, small = (field.encode(content) for content in (scene(1), scene(2), scene(1)[10:, 10:]))
    nothing = field.encode(flat(3))
    for description in (one, other, small, nothing):
        assert field.compare(description, [description])[0] == 1.0
    for a, b in ((one, other), (one, small), (one, nothing)):
        assert field.compare(a, [b])[0] == field.compare(b, [a])[0]
    assert field.compare(one, []).shape == (0,)
