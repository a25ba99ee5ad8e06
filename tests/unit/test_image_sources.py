"""Pictures come from folders, from columns of paths or contents, and from memory; broken ones are counted."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import benzer
from benzer import Index, IndexSettings, Schema, Text, ValueSet
from benzer.errors import InputError, MalformedRowError
from benzer.fields import Image
from benzer.sources import open_sources

PICTURES = Schema(image=Image())


def picture(seed: int, size: tuple[int, int] = (96, 128)) -> NDArray[np.uint8]:
    """A picture of random large patches: detail that survives any change of size and light."""
    patches = np.random.default_rng(seed).integers(0, 200, (8, 8, 3), dtype=np.uint8)
    big = PIL.Image.fromarray(patches).resize((size[1], size[0]), PIL.Image.Resampling.BICUBIC)
    return np.asarray(big)


def png(pixels: NDArray[np.uint8]) -> bytes:
    out = io.BytesIO()
    PIL.Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One picture, its brighter half-size copy, another picture in a subfolder, and a text."""
    photos = tmp_path / "photos"
    (photos / "more").mkdir(parents=True)
    (photos / "a.png").write_bytes(png(picture(1)))
    brighter = PIL.Image.fromarray(picture(1) + np.uint8(40)).resize((64, 48))
    brighter.save(photos / "b.JPG", quality=80)
    (photos / "more" / "c.webp").write_bytes(png(picture(2)))
    (photos / "notes.txt").write_text("no picture")
    return photos


def ids_in(folder: Path, *names: str) -> list[str]:
    return [f"{folder}/{name}" for name in names]


def test_a_folder_of_pictures_needs_no_format(folder: Path) -> None:
    found = benzer.find_duplicates(folder, schema=PICTURES, threshold=0.3)
    assert found.ids == ids_in(folder, "a.png", "b.JPG", "more/c.webp")
    assert found.kept == ids_in(folder, "a.png", "more/c.webp")


def test_a_single_field_may_have_any_name(folder: Path) -> None:
    found = benzer.find_duplicates(folder, schema=Schema(photo=Image()), threshold=0.3)
    assert len(found.ids) == 3
    found = benzer.find_duplicates(str(folder / "*.png"), schema=Schema(photo=Image()))
    assert found.ids == ids_in(folder, "a.png")


def test_the_kept_pictures_are_copied_as_they_are(folder: Path, tmp_path: Path) -> None:
    found = benzer.find_duplicates(folder, schema=PICTURES, threshold=0.3)
    paths = found.write(tmp_path / "out")
    copies = {path.relative_to(paths["kept"]).as_posix() for path in paths["kept"].rglob("*.*")}
    assert copies == {"a.png", "more/c.webp"}
    assert (paths["kept"] / "a.png").read_bytes() == (folder / "a.png").read_bytes()


def test_a_broken_picture_stops_the_run_or_is_counted(folder: Path) -> None:
    (folder / "broken.png").write_bytes(png(picture(3))[:200])
    with pytest.raises(MalformedRowError, match=r"photos file 3: .*broken\.png"):
        benzer.find_duplicates(folder, schema=PICTURES)
    found = benzer.find_duplicates(
        folder, schema=PICTURES, options=benzer.Options(on_error="skip"), threshold=0.3
    )
    assert [row.row for row in found.malformed] == [3]
    assert found.counts["documents"] == 3
    assert len(found.removed) == 1


def test_a_folder_of_pictures_read_as_texts_says_how_to_read_it(folder: Path) -> None:
    (folder / "notes.txt").unlink()
    with pytest.raises(InputError, match=r"contains \.JPG, \.png, \.webp; for images, use an image field"):
        benzer.find_duplicates(folder)


def test_pictures_are_no_texts(folder: Path) -> None:
    with pytest.raises(
        InputError, match=r"contains images: compare them with a field Image\(\) \(benzer --images grid\)"
    ):
        benzer.find_duplicates(folder, options=benzer.Options(format="images"), schema=Schema(image=Text()))
    with pytest.raises(InputError, match="contains texts, not sets of values or images"):
        benzer.find_duplicates(folder, options=benzer.Options(format="text"), schema=Schema(text=Image()))


def table_of(folder: Path) -> list[dict[str, Any]]:
    return [
        {"id": 1, "photo": "a.png", "tags": ["x"]},
        {"id": 2, "photo": str(folder / "b.JPG"), "tags": ["x"]},
        {"id": 3, "photo": "more/c.webp", "tags": ["y"]},
        {"id": 4, "photo": None, "tags": ["y"]},
    ]


def as_jsonl(folder: Path) -> Any:
    (folder / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table_of(folder)))
    return folder / "list.jsonl"


def as_parquet(folder: Path) -> Any:
    pq.write_table(pa.Table.from_pylist(table_of(folder)), folder / "list.parquet")
    return folder / "list.parquet"


def as_bytes(folder: Path) -> Any:
    def content(name: str | None) -> Any:
        return None if name is None else {"bytes": (folder / name).read_bytes(), "path": "gone.png"}

    rows = [{**row, "photo": content(row["photo"])} for row in table_of(folder)]
    return pa.Table.from_pylist(rows)


def as_arrays(folder: Path) -> Any:
    def pixels(name: str | None) -> Any:
        return None if name is None else np.asarray(PIL.Image.open(folder / name).convert("RGB"))

    return [{**row, "photo": pixels(row["photo"])} for row in table_of(folder)]


def as_paths(folder: Path) -> Any:
    return [{**row, "photo": row["photo"] and folder / row["photo"]} for row in table_of(folder)]


@pytest.mark.parametrize("given", [as_jsonl, as_parquet, as_bytes, as_arrays, as_paths])
def test_a_column_may_hold_paths_contents_or_arrays(given: Any, folder: Path) -> None:
    schema = Schema(photo=Image(), tags=ValueSet())
    found = benzer.find_duplicates(given(folder), schema=schema, threshold=0.5)
    assert {(pair.left_id, pair.right_id) for pair in found.pairs} == {(1, 2), (3, 4)}
    assert found.pairs[1].similarity == 1.0  # of 3 and 4: only the tags can be compared


def test_csv_names_pictures_beside_it(folder: Path) -> None:
    (folder / "list.csv").write_text("id,photo\n1,a.png\n2,b.JPG\n3,\n")
    found = benzer.find_duplicates(folder / "list.csv", schema=Schema(photo=Image()), threshold=0.3)
    assert found.removed.keys() == {"2"}
    assert found.counts["empty"] == 1


@pytest.mark.parametrize("value", [5, ["a.png"], {"file": "a.png"}])
def test_what_is_no_picture_is_malformed(value: Any) -> None:
    found = benzer.find_duplicates(
        [{"id": 1, "image": value}], schema=PICTURES, options=benzer.Options(on_error="skip")
    )
    assert "not the path or the content of an image" in found.malformed[0].reason


def test_an_index_of_pictures_is_asked_by_path_bytes_or_array(folder: Path, tmp_path: Path) -> None:
    with Index.open(tmp_path / "photos.benzer", IndexSettings(PICTURES, threshold=0.3)) as index:
        index.add((name, folder / name) for name in ("a.png", "more/c.webp"))
    with Index.open(tmp_path / "photos.benzer", mode="read") as index:
        for asked in (folder / "b.JPG", str(folder / "b.JPG"), (folder / "b.JPG").read_bytes(), picture(1)):
            (match,) = index.find_similar(asked)
            assert match.id == "a.png"
            assert match.fields == {"image": match.similarity}
        assert next(candidate.id for candidate in index.find_candidates(picture(1))) == "a.png"
        assert index.signature("a.png") is not None
        with pytest.raises(InputError, match=r"nowhere\.png"):
            index.find_similar(folder / "nowhere.png")


def test_one_index_holds_documents_of_all_three_kinds(folder: Path) -> None:
    schema = Schema(text=Text(weight=2), tags=ValueSet(), photo=Image())
    first = {"text": "one two three four", "tags": ["x", "y"], "photo": folder / "a.png"}
    other = {"text": "one two three five", "tags": ["x"], "photo": folder / "b.JPG"}
    with Index.open("memory:", IndexSettings(schema, threshold=0.3)) as index:
        index.add([("first", first), ("no photo", {"text": "one two three four", "tags": ["z"]})])
        found = {match.id: match for match in index.find_similar(other)}
    of_photo = Image().similarity(folder / "a.png", folder / "b.JPG")
    assert found["first"].fields == {"text": 1 / 3, "tags": 1 / 2, "photo": of_photo}
    assert found["first"].similarity == pytest.approx((2 / 3 + 1 / 2 + of_photo) / 4)
    assert "no photo" not in found  # (2 / 3 + 0) / 3 is less than the threshold


def test_a_source_of_pictures_lists_its_files_in_order(folder: Path) -> None:
    (source,) = open_sources(folder, format="images")
    assert source.name == str(folder)
    assert source.suffix == ""


@pytest.mark.parametrize("name, schema", [("photo.png", PICTURES), ("text.txt", Schema())])
def test_a_pipe_in_a_folder_is_not_waited_for(name: str, schema: Schema, folder: Path) -> None:
    os.mkfifo(folder / name)
    found = benzer.find_duplicates(folder, schema=schema, options=benzer.Options(on_error="skip"))
    assert [row.reason for row in found.malformed] == ["not a regular file"]
    with pytest.raises(InputError, match="is a pipe or a device, not a file"):
        Image().encode(folder / name)
