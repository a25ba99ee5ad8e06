"""Pictures as they come: every kind of file is read alike, and what is no picture is refused with its name."""

from __future__ import annotations

import re
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow
from PIL import ImageOps

from benzer.errors import InputError, SettingsError
from benzer.fields import Image
from benzer.fields.image.grid import Grid
from benzer.fields.image.reading import BAND_PIXELS, read
from tests.images import as_file, flat, scene

LARGE = 10**6
SCENE = scene(1, 24, 32)


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """A PNG of a few bytes that says it has 3.6 billion pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + body


HOSTILE = {
    "no bytes": b"",
    "a text": b"this is no picture, whatever its name says",
    "a truncated JPEG": as_file(SCENE, "JPEG")[:500],
    "a truncated PNG": as_file(SCENE, "PNG")[:300],
    "the head of a GIF": b"GIF89a",
    "a BMP of no size": as_file(SCENE, "BMP")[:26],
    "a TIFF whose directory is elsewhere": b"II*\x00\xff\xff\xff\x7f",
    "a decompression bomb": bomb(),
    "a picture above max_pixels": as_file(flat(9, 1001, 1000), "PNG"),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_picture_is_refused_with_a_sentence(data: bytes) -> None:
    name = re.escape(f"an image of {len(data):,} bytes is not a readable image (")
    with pytest.raises(InputError, match=name):
        read(data, LARGE)


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_broken_file_is_named_and_the_others_are_described(data: bytes, tmp_path: Path) -> None:
    broken, whole = tmp_path / "broken.jpg", tmp_path / "whole.png"
    broken.write_bytes(data)
    whole.write_bytes(as_file(SCENE, "PNG"))
    field = Image(max_pixels=LARGE)
    fault, description = field.describe([broken, whole], threads=2)
    assert isinstance(fault, InputError)
    assert str(fault).startswith(f"{broken} is not a readable image (")
    assert description == field.encode(SCENE)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.png does not exist"):
        read(tmp_path / "gone.png", LARGE)
    with pytest.raises(InputError, match="is a folder: use the path of an image"):
        read(tmp_path, LARGE)


def test_the_pixels_of_a_bomb_are_counted_before_any_is_decoded() -> None:
    with pytest.raises(InputError, match=r"1000 x 1001 = 1,001,000 pixels, above max_pixels, 1,000,000"):
        read(HOSTILE["a picture above max_pixels"], LARGE)


def test_max_pixels_must_leave_a_pixel() -> None:
    with pytest.raises(SettingsError, match="max_pixels must be at least 1, got 0"):
        Image(max_pixels=0)


@pytest.mark.parametrize("height, width", [(65_536, 1), (1, 65_536), (2_000_000, 1)])
def test_a_side_above_65535_is_refused_before_it_is_decoded(height: int, width: int) -> None:
    message = f"has {width} x {height} pixels; a side can have up to 65,535"
    for content in (np.zeros((height, width), dtype=np.uint8), bomb(width, height)):
        with pytest.raises(InputError, match=message):
            read(content, 2 * LARGE)


@pytest.mark.parametrize("method", ["grid", "seed16", "local"])
@pytest.mark.parametrize("shape", [(65_535, 1), (1, 65_535)])
def test_the_longest_side_costs_little_memory(method: str, shape: tuple[int, int]) -> None:
    """Sixteen sums a column (64-bit), and as much again for all else; not one such array after another."""
    line = np.arange(65_535).reshape(shape).astype(np.uint8)
    field = Image(method)
    field.encode(SCENE)  # what is loaded once
    tracemalloc.start()
    try:
        field.encode(line)
        assert tracemalloc.get_traced_memory()[1] < 65_535 * 8 * 32
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("fault", [MemoryError(), ValueError("no room. ")], ids=["memory", "other"])
def test_a_picture_that_cannot_be_described_is_named_and_the_others_are_described(
    fault: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    describe = Grid.describe

    def failing(method: Grid, picture: Any) -> bytes:
        if len(picture) == 50:
            raise fault
        return describe(method, picture)

    monkeypatch.setattr(Grid, "describe", failing)
    path = tmp_path / "huge.png"
    path.write_bytes(as_file(scene(1, 50, 50), "PNG"))
    why = str(fault).strip(". ") or "MemoryError"
    broken, whole = Image().describe([path, SCENE])
    assert str(broken) == f"{path} could not be processed ({why}): make it smaller, or remove it"
    assert isinstance(broken, InputError)
    assert isinstance(whole, bytes)
    with pytest.raises(InputError, match="an image array could not be processed"):
        Image().encode(scene(1, 50, 50))


def colours(height: int, width: int) -> Any:
    """Random colours with alpha."""
    return np.random.default_rng(1).integers(0, 256, (height, width, 4), dtype=np.uint8)


def greys(height: int, width: int) -> Any:
    """Rising numbers."""
    return np.arange(height * width).reshape(height, width)


KINDS: dict[str, Callable[[int, int], Any]] = {
    "RGB": lambda *size: as_file(colours(*size)[:, :, :3], "PNG"),
    "RGB and alpha": lambda *size: as_file(colours(*size), "PNG"),
    "an array with alpha": colours,
    "16 bits": lambda *size: as_file(greys(*size).astype(np.uint16), "PNG"),
    "floating": lambda *size: as_file(greys(*size).astype(np.float32), "TIFF"),
}
"""An image of each kind that is converted."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_picture_takes_twice_the_memory_of_its_pixels(kind: str) -> None:
    """Its pixels take 3 bytes each; what Pillow holds meanwhile is not counted, 4 bytes each at most."""
    height, width = 1500, 2000
    content = KINDS[kind](height, width)
    tracemalloc.start()
    try:
        read(content, 10 * LARGE)
        result, band = 3 * height * width, BAND_PIXELS * 24
        assert tracemalloc.get_traced_memory()[1] < 2 * result + band
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_the_same_in_one_band_or_many(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = KINDS[kind](37, 41)
    whole = read(content, LARGE)
    monkeypatch.setattr("benzer.fields.image.reading.BAND_PIXELS", 100)
    assert np.array_equal(read(content, LARGE), whole)


WRONG_ARRAYS: dict[str, tuple[Any, str]] = {
    "floats": (np.zeros((4, 4, 3)), "got float64, 4 x 4 x 3"),
    "two channels": (np.zeros((4, 4, 2), dtype=np.uint8), "got uint8, 4 x 4 x 2"),
    "a line": (np.zeros(4, dtype=np.uint8), "got uint8, 4"),
    "no row": (np.zeros((0, 4, 3), dtype=np.uint8), "must have pixels, got 0 x 4"),
    "no column": (np.zeros((4, 0), dtype=np.uint8), "must have pixels, got 4 x 0"),
    "too many pixels": (np.zeros((1001, 1000), dtype=np.uint8), "above max_pixels"),
}


@pytest.mark.parametrize("array, message", WRONG_ARRAYS.values(), ids=WRONG_ARRAYS)
def test_an_array_that_is_no_picture_is_refused(array: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(array, LARGE)


@pytest.mark.parametrize("content", [3, ["a.png"], {"a": 1}])
def test_other_types_are_refused(content: Any) -> None:
    with pytest.raises(InputError, match="an image field takes a path, the bytes of a file or an array"):
        read(content, LARGE)


def test_a_file_without_loss_gives_the_pixels_of_the_array(tmp_path: Path) -> None:
    path = tmp_path / "scene.png"
    path.write_bytes(as_file(SCENE, "PNG"))
    for content in (SCENE, path, str(path), path.read_bytes(), as_file(SCENE, "BMP")):
        assert np.array_equal(read(content, LARGE), SCENE)


def test_a_grey_array_is_a_grey_picture() -> None:
    grey = SCENE[:, :, 0]
    assert np.array_equal(read(grey, LARGE), np.dstack([grey] * 3))
    assert np.array_equal(read(as_file(grey, "PNG"), LARGE), np.dstack([grey] * 3))


def transparent() -> np.ndarray:
    alpha = np.full((24, 32, 1), 255, dtype=np.uint8)
    alpha[:12] = 0
    return np.concatenate([SCENE, alpha], axis=2)


def test_transparent_parts_show_white() -> None:
    expected = SCENE.copy()
    expected[:12] = 255
    array = transparent()
    assert np.array_equal(read(array, LARGE), expected)
    assert np.array_equal(read(as_file(array, "PNG"), LARGE), expected)


def test_half_transparent_parts_are_half_white() -> None:
    """colour x alpha + 255 x (1 - alpha), rounded to the nearest; ties, which 255 does not allow, aside."""
    rng = np.random.default_rng(1)
    array = rng.integers(0, 256, (20, 30, 4), dtype=np.uint8)
    alpha = array[:, :, 3:] / 255
    expected = np.rint(array[:, :, :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    assert np.array_equal(read(array, LARGE), expected)
    assert np.array_equal(read(as_file(array, "PNG"), LARGE), expected)


def test_a_transparent_colour_of_a_palette_shows_white() -> None:
    image = Pillow.new("P", (20, 20), 0)
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.paste(1, (0, 0, 10, 20))
    pixels = read(as_file(image, "PNG", transparency=0), LARGE)
    assert pixels[0, 0].tolist() == [200, 100, 50]
    assert pixels[0, 15].tolist() == [255, 255, 255]


def test_grey_with_alpha_is_read() -> None:
    image = Pillow.fromarray(transparent()).convert("LA")
    pixels = read(as_file(image, "PNG"), LARGE)
    assert (pixels[:12] == 255).all()
    assert np.array_equal(pixels[12:, :, 0], np.asarray(Pillow.fromarray(SCENE).convert("L"))[12:])


def test_the_upper_bits_of_a_16_bit_grey_count() -> None:
    grey = (np.arange(24 * 32).reshape(24, 32) * 85).astype(np.uint16)
    assert np.array_equal(read(as_file(grey, "PNG"), LARGE)[:, :, 0], (grey >> 8).astype(np.uint8))


@pytest.mark.parametrize("most", [65_535, 4_095])
def test_the_upper_bits_of_a_16_bit_pgm_count(most: int) -> None:
    """Pillow brings its greatest value to 65,535; all of these are in the lower half, which a stretch undoes."""
    grey = np.arange(24 * 32).reshape(24, 32) * 2
    data = b"P5 32 24 %d\n" % most + grey.astype(">u2").tobytes()
    assert np.abs(read(data, LARGE)[:, :, 0] - grey * 256 / (most + 1)).max() <= 1


@pytest.mark.parametrize("least, most", [(0, 255), (0, 65_535), (-9, 9), (7, 7)])
def test_greys_of_32_bits_are_stretched_whatever_they_reach(least: int, most: int) -> None:
    grey = np.linspace(least, most, 24 * 32).reshape(24, 32).astype(np.int32)
    pixels = read(as_file(grey, "TIFF"), LARGE)
    assert (pixels.min(), pixels.max()) == (0, 255 if most > least else 0)


def test_what_is_not_finite_is_black() -> None:
    grey = np.linspace(1, 2, 24 * 32).reshape(24, 32).astype(np.float32)
    grey[0, :3] = np.nan, np.inf, -np.inf
    pixels = read(as_file(grey, "TIFF"), LARGE)
    assert (pixels[0, :3] == 0).all()
    assert pixels.max() == 255
    assert (read(as_file(np.full((9, 9), np.inf, dtype=np.float32), "TIFF"), LARGE) == 0).all()


@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_greys_without_bounds_are_stretched(kind: Any) -> None:
    grey = np.linspace(-500, 7000, 24 * 32).reshape(24, 32).astype(kind)
    pixels = read(as_file(grey, "TIFF"), LARGE)
    assert pixels[0, 0].tolist() == [0, 0, 0]
    assert pixels[-1, -1].tolist() == [255, 255, 255]


def test_cmyk_is_read_as_rgb() -> None:
    pixels = read(as_file(flat(200), "JPEG", mode="CMYK"), LARGE)
    assert np.abs(pixels.astype(int) - 200).max() <= 3


def test_the_first_frame_of_an_animation_counts() -> None:
    frames = [Pillow.fromarray(flat(value)) for value in (30, 220)]
    data = as_file(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert (read(data, LARGE) == 30).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_photograph_is_seen_upright(orientation: int) -> None:
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    data = as_file(SCENE, "PNG", exif=exif)
    image = Pillow.fromarray(SCENE)
    image.getexif()[0x0112] = orientation
    assert np.array_equal(read(data, LARGE), np.asarray(ImageOps.exif_transpose(image)))


@pytest.mark.parametrize("exif", [b"", b"Exif\x00\x00", b"Exif\x00\x00II*\x00\xff\xff\xff\xff", b"nonsense"])
def test_broken_exif_data_loses_no_photograph(exif: bytes) -> None:
    assert np.array_equal(read(as_file(SCENE, "PNG", exif=exif), LARGE), SCENE)


def test_a_large_jpeg_is_decoded_smaller_when_that_is_enough() -> None:
    data = as_file(scene(2, 400, 600), "JPEG", quality=95)
    assert read(data, LARGE).shape == (400, 600, 3)
    assert read(data, LARGE, enough=100).shape == (100, 150, 3)
    assert read(data, LARGE, enough=300).shape == (400, 600, 3)


def test_a_single_pixel_is_a_picture() -> None:
    for method in ("grid", "seed16", "local"):
        field = Image(method)
        assert field.no_detail(np.zeros((1, 1, 3), dtype=np.uint8)) == (method != "seed16")
