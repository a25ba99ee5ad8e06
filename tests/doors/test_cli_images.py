"""Folders and columns of images go through every command; what cannot be read is named, or counted by choice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from benzer.fields import Image
from tests.doors.shell import answer, on_terminal, one_line, process, rows, run

COPIES = ["a.png", "a_grey.png", "a_small.jpg"]
OTHERS = ["b.png", "deep/c.png"]


def picture(seed: int) -> Pillow.Image:
    """Something like a photograph: hills of light and dark that come out of the seed alone."""
    hills = np.random.default_rng(seed).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    return Pillow.fromarray(hills).resize((160, 120), Pillow.Resampling.BICUBIC)


@pytest.fixture
def photos(folder: Path) -> Path:
    """A folder of five images, three of which show the same."""
    photos = folder / "photos"
    (photos / "deep").mkdir(parents=True)
    one = picture(1)
    one.save(photos / "a.png")
    one.convert("L").save(photos / "a_grey.png")
    one.resize((112, 84)).save(photos / "a_small.jpg", quality=80)
    picture(2).save(photos / "b.png")
    picture(3).save(photos / "deep" / "c.png")
    (photos / "notes.txt").write_text("not an image, and not looked at")
    return photos


@pytest.fixture
def album(photos: Path) -> str:
    run("index", "photos.benzer", "photos", "--images", "grid")
    return "photos.benzer"


# dedupe


def test_dedupe_keeps_one_of_each_image_as_it_was(folder: Path, photos: Path) -> None:
    summary = answer("dedupe", "photos", "--images", "grid", "--output", "clean")
    kept = folder / "clean" / "kept"
    files = sorted(path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file())
    assert files == ["a.png", *OTHERS]
    assert all((kept / name).read_bytes() == (photos / name).read_bytes() for name in files)
    removed = {row["id"]: row["kept_id"] for row in rows(folder / "clean" / "removed.jsonl")}
    assert removed == {f"photos/{name}": "photos/a.png" for name in COPIES[1:]}
    assert summary["settings"]["threshold"] == Image().threshold
    assert sorted(path.name for path in (folder / "clean" / "removed_documents").iterdir()) == COPIES[1:]


def test_a_threshold_that_is_given_counts_for_images(photos: Path) -> None:
    arguments = ["dedupe", "photos", "--images", "grid", "--output", "clean", "--threshold", "1"]
    assert answer(*arguments)["settings"]["threshold"] == 1.0


@pytest.mark.parametrize("arguments", [["--format", "images"], ["--images", "seed16"]])
def test_a_format_or_another_method_says_that_images_are_compared(photos: Path, arguments: list[str]) -> None:
    assert answer("dedupe", "photos", *arguments, "--output", "clean")["counts"]["read"] == 5


def test_files_of_images_are_read_like_a_folder_of_them(photos: Path) -> None:
    counts = answer("dedupe", "photos/*.png", "--images", "grid", "--output", "clean")["counts"]
    assert (counts["read"], counts["kept"]) == (3, 2)


def test_a_column_of_images_is_read_beside_texts(folder: Path, photos: Path) -> None:
    (photos / "list.jsonl").write_text("".join(
        json.dumps({"id": name, "photo": name, "caption": "one of a few hills in the evening"}) + "\n"
        for name in [*COPIES, *OTHERS]
    ))  # fmt: skip
    arguments = ["dedupe", "photos/list.jsonl", "--image-column", "photo"]
    assert answer(*arguments, "--output", "images")["counts"]["kept"] == 3
    both = answer(*arguments, "--text", "caption", "--threshold", "0.6", "--output", "both")
    assert (both["counts"]["kept"], both["counts"]["removed"]) == (3, 2)
    assert both["settings"]["threshold"] == 0.6
    assert answer(*arguments, "--text", "caption", "--output", "default")["settings"]["threshold"] == 0.8


def test_a_broken_image_stops_the_run_by_its_name(folder: Path, photos: Path) -> None:
    (photos / "b.png").write_bytes((photos / "b.png").read_bytes()[:100])
    for arguments in (["dedupe", "photos", "--output", "clean"], ["index", "photos.benzer", "photos"]):
        error = one_line(run(*arguments, "--images", "grid", status=2))
        assert "photos/b.png" in error
        assert "--on-error skip" in error
    assert not (folder / "clean").exists()
    assert not list(folder.glob("photos.benzer*"))


def test_broken_images_are_counted_by_choice(folder: Path, photos: Path) -> None:
    (photos / "b.png").write_bytes(b"")
    (photos / "deep" / "c.png").write_text("<html>404</html>")
    arguments = ["photos", "--images", "grid", "--on-error", "skip"]
    assert answer("dedupe", *arguments, "--output", "clean", status=1)["counts"]["malformed"] == 2
    assert [row["row"] for row in rows(folder / "clean" / "malformed.jsonl")] == [4, 5]
    made = run("index", "photos.benzer", *arguments, status=1)
    assert "2 malformed rows skipped" in made.stderr
    assert "photos/deep/c.png" in made.stderr
    assert answer("info", "photos.benzer")["documents"] == 3
    found = answer("info", "photos", "--images", "grid", status=1)
    assert (found["rows"], found["documents"], found["malformed"]) == (5, 3, 2)
    assert found["columns"] == ["image"]


@pytest.mark.parametrize("arguments, reason", [
    ([], "--images"),
    (["--images", "photos"], "'photos' is not one of"),
    (["--images", "grid", "--text", "caption"], 'no column "caption"'),
    (["--images", "grid", "--format", "jsonl"], "folder"),
])  # fmt: skip
def test_a_folder_of_images_that_is_read_as_something_else(
    folder: Path, photos: Path, arguments: list[str], reason: str
) -> None:
    (photos / "notes.txt").unlink()
    assert reason in one_line(run("dedupe", "photos", *arguments, "--output", "clean", status=2))


# index and search


@pytest.mark.parametrize("question", [["--file", "photos/a_small.jpg"], ["photos/a_small.jpg"]])
def test_an_image_finds_its_copies(album: str, question: list[str]) -> None:
    matches = answer("search", album, *question)["matches"]
    assert sorted(match["id"] for match in matches) == [f"photos/{name}" for name in COPIES]
    assert matches[0]["id"] == "photos/a_small.jpg"
    assert matches[0]["similarity"] == 1.0
    shown = run("search", album, *question).stdout.splitlines()
    assert shown[0].split() == ["similarity", "id"]
    assert shown[1].split() == ["1.000", "photos/a_small.jpg"]


def test_an_image_comes_in_by_a_pipe(album: str, photos: Path) -> None:
    with (photos / "a.png").open("rb") as file:
        done = process("search", album, "-", "--json", stdin=file)
    assert json.loads(done.stdout)["matches"][0] == {
        "id": "photos/a.png", "similarity": 1.0, "fields": {"image": 1.0},
    }  # fmt: skip


def test_candidates_of_an_image_are_listed(album: str) -> None:
    bands = answer("info", album)["settings"]["bands"]
    first = answer("search", album, "--file", "photos/a.png", "--candidates")["candidates"][0]
    assert first == {"id": "photos/a.png", "shared_bands": bands}


def test_an_index_of_images_is_added_to_without_options(folder: Path, album: str) -> None:
    picture(9).save(folder / "new.png")
    assert answer("index", album, "new.png")["documents"] == 6
    assert answer("index", album, "photos")["new"] == 0
    assert answer("search", album, "new.png")["matches"][0]["id"] == "new.png"
    error = one_line(run("index", album, "photos", "--images", "seed16", status=2))
    assert "was created with --images grid, got seed16" in error
    assert answer("info", album)["settings"]["threshold"] == Image().threshold


def test_a_path_in_a_json_document_is_seen_from_its_file(folder: Path, album: str) -> None:
    (folder / "photos" / "asked.json").write_text('{"image": "a.png"}')
    by_file = answer("search", album, "--json-document", "photos/asked.json")["matches"]
    by_stdin = answer("search", album, "--json-document", "-", stdin='{"image": "photos/a.png"}')["matches"]
    assert by_file == by_stdin == answer("search", album, "photos/a.png")["matches"]


@pytest.mark.parametrize("question", [["no.png"], ["--file", "photos/notes.txt"], ["--file", "no.png"]])
def test_what_is_no_image_cannot_be_asked_for(album: str, question: list[str]) -> None:
    assert question[-1] in one_line(run("search", album, *question, status=2))


def test_the_progress_of_images_is_drawn_on_a_terminal(folder: Path, photos: Path) -> None:
    seen, stdout = on_terminal("stderr", "index", "new.benzer", "photos", "--images", "grid", "--json")
    assert "index" in seen
    assert "Traceback" not in seen
    assert json.loads(stdout)["new"] == 5


# compare


def test_a_piece_of_an_image_is_known_by_its_local_features(folder: Path) -> None:
    noise = np.random.default_rng(5).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    whole = Pillow.fromarray(noise).resize((480, 360), Pillow.Resampling.BICUBIC)
    whole.save(folder / "whole.png")
    whole.crop((0, 0, 300, 220)).rotate(8, expand=True).save(folder / "piece.png")
    arguments = ["compare", "whole.png", "piece.png", "--images"]
    assert answer(*arguments, "grid")["similarity"] < Image().threshold
    assert answer(*arguments, "local")["similarity"] >= Image("local").threshold


def test_two_images_are_compared(photos: Path) -> None:
    alike = answer("compare", "photos/a.png", "photos/a_grey.png", "--images", "grid")
    other = answer("compare", "photos/a.png", "photos/b.png", "--images", "grid")
    assert alike["similarity"] > Image().threshold > other["similarity"]
    assert "shared in" not in run("compare", "photos/a.png", "photos/a_grey.png", "--images", "grid").stdout
    assert "--texts and --images" in one_line(
        run("compare", "--texts", "a", "b", "--images", "grid", status=2)
    )
