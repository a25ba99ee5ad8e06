"""HTML pages and web archives: their main texts have the duplicates of the texts in them."""

from __future__ import annotations

import gzip
import html
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benzer import Options, find_duplicates
from benzer.cli import main
from benzer.errors import InputError
from benzer.sources import open_sources
from benzer.sources.web import main_text
from tests.contracts.source_inputs import read, texts

WORDS = ("home", "news", "about", "contact", "archive", "sports", "weather", "login", "share", "related")


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count)).capitalize()


def links(rng: random.Random, count: int) -> str:
    return "".join(f'<li><a href="/{n}">{words(rng, 3)}</a></li>' for n in range(count))


def prose(rng: random.Random) -> list[str]:
    return [" ".join(f"word{rng.randrange(3_000)}" for _ in range(60)) + "." for _ in range(3)]


def page(paragraphs: list[str], template: int, seed: int) -> str:
    """A page of one of three templates, with other links, scripts and titles for each seed."""
    rng = random.Random(seed)
    body = "".join(f"<p>{html.escape(one)}</p>" for one in paragraphs)
    article = (
        f"<main><article><h1>{words(rng, 4)}</h1>{body}</article></main><footer>{words(rng, 9)}</footer>"
    )
    post = (
        f'<div id="content"><div class="post">{body}</div></div><div class="sidebar">{links(rng, 14)}</div>'
    )
    story = f'<section class="story">{body}</section><div class="related"><ul>{links(rng, 10)}</ul></div>'
    inside = [
        f"<nav><ul>{links(rng, 12)}</ul></nav>{article}",
        f'<div class="menu"><ul>{links(rng, 9)}</ul></div>{post}',
        f'<div class="cookie-banner"><button>{words(rng, 1)}</button></div>{story}',
    ][template]
    script = f"<script>var x = {rng.random()};</script>"
    return f"<!DOCTYPE html><html><head><title>{words(rng, 4)}</title>{script}</head><body>{inside}</body></html>"


def corpus(count: int, seed: int = 1) -> tuple[list[list[str]], list[str]]:
    """Texts of which some are the same as an earlier one, and a page with each."""
    rng = random.Random(seed)
    originals = [prose(rng) for _ in range(count * 2 // 3)]
    shared = originals + [rng.choice(originals) for _ in range(count - len(originals))]
    return shared, [page(one, rng.randrange(3), number) for number, one in enumerate(shared)]


def removed(rows: list[tuple[str, str]]) -> set[str | int]:
    return set(find_duplicates(rows).removed)


def folder(path: Path, pages: list[str]) -> Path:
    (path / "pages").mkdir()
    for number, one in enumerate(pages):
        (path / f"pages/{number:04}.html").write_text(one)
    return path / "pages"


@pytest.mark.slow
def test_a_thousand_pages_in_changed_templates_have_the_removals_of_their_texts(tmp_path: Path) -> None:
    shared, pages = corpus(1_000)
    expected = removed([(f"{n:04}", "\n".join(one)) for n, one in enumerate(shared)])
    found = find_duplicates(folder(tmp_path, pages))
    ids = {Path(str(id)).stem for id in found.removed}
    assert len(expected) == 334
    assert len(ids & expected) >= 0.97 * len(expected)
    assert ids <= expected
    extracted = removed([(f"{n:04}", main_text(one)) for n, one in enumerate(pages)])
    assert ids == extracted
    with_tags = find_duplicates([(f"{n:04}", one) for n, one in enumerate(pages)])
    assert len(with_tags.removed) < len(expected) / 4


def record(kind: str, id: str, content: bytes, type: str) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\nWARC-Target-URI: http://a.org/{id}\r\n"
        f"WARC-Date: 2024-05-01T00:00:00Z\r\nContent-Type: {type}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def response(number: int, body: bytes, type: str = "text/html; charset=utf-8") -> bytes:
    content = f"HTTP/1.1 200 OK\r\nContent-Type: {type}\r\n\r\n".encode() + body
    return record("response", f"r{number}", content, "application/http; msgtype=response")


INFO = record("warcinfo", "info", b"software: test\r\n", "application/warc-fields")
REQUEST = record("request", "q", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request")


def archive(pages: list[str]) -> list[bytes]:
    records = [INFO]
    for number, one in enumerate(pages):
        records += [REQUEST, response(number, one.encode())]
    return [*records, response(99, b"\x89PNG", "image/png")]


def texts_of_crawl(pages: list[str]) -> list[bytes]:
    return [
        INFO,
        *(
            record("conversion", f"r{n}", main_text(one).encode(), "text/plain")
            for n, one in enumerate(pages)
        ),
    ]


PACK: dict[str, Callable[[list[bytes]], bytes]] = {
    "": b"".join,
    ".gz": lambda records: b"".join(map(gzip.compress, records)),
}


@pytest.mark.parametrize("make, ending", [(archive, ".warc"), (texts_of_crawl, ".warc.wet")])
@pytest.mark.parametrize("compression", PACK)
def test_web_archives_are_read_and_copied_record_by_record(
    make: Callable[[list[str]], list[bytes]], ending: str, compression: str, tmp_path: Path
) -> None:
    _, pages = corpus(30)
    records = make(pages)
    path = tmp_path / f"crawl{ending}{compression}"
    path.write_bytes(PACK[compression](records))
    source, found, _ = read(path)
    assert found.ids() == [f"urn:uuid:r{n}" for n in range(30)]
    assert texts(found) == [main_text(one) for one in pages]
    keep = np.arange(30) % 3 == 0
    source.write_rows(keep, tmp_path / f"copy{ending}{compression}")
    copy = (tmp_path / f"copy{ending}{compression}").read_bytes()
    kept = [one for one in records if not any(f"uuid:r{n}>".encode() in one for n in range(30) if n % 3)]
    assert (gzip.decompress(copy) if compression else copy) == b"".join(kept)
    assert texts(read(tmp_path / f"copy{ending}{compression}")[1]) == texts(found)[::3]


def test_an_archive_that_is_cut_off_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(b"".join(archive(corpus(3)[1]))[:-400])
    with pytest.raises(InputError, match=r"a\.warc cannot be read as WARC"):
        read(tmp_path / "a.warc", on_error="skip")


def test_encodings_of_pages_are_declared_or_detected_and_counted(tmp_path: Path) -> None:
    body = "<p>" + "Größe und Maß der schönen Straßen, übermäßig groß. " * 9 + "</p>"
    (tmp_path / "a.html").write_bytes(
        f'<html><head><meta charset="iso-8859-1"></head><body>{body}'.encode("latin-1")
    )
    (tmp_path / "b.html").write_bytes(f"<html><body>{body}".encode("cp1252"))
    (tmp_path / "c.htm").write_bytes(f"<html><body>{body}".encode())
    (tmp_path / "d.txt").write_text("a < b, as text")
    _, found, report = read(tmp_path)
    assert len({*texts(found)[:3]}) == 1
    assert "Größe und Maß" in str(found.text(0, 0))
    assert found.text(3, 0) == "a < b, as text"
    assert report.encodings == {"iso8859-1": 1, "cp1252": 1}


def test_a_column_of_html_is_compared_by_its_text(tmp_path: Path) -> None:
    _, pages = corpus(60)
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps({"id": n, "page": one}) + "\n" for n, one in enumerate(pages)))
    expected = removed([(str(n), main_text(one)) for n, one in enumerate(pages)])
    found = find_duplicates(path, text="page", options=Options(html=True))
    assert {str(id) for id in found.removed} == expected
    assert len(expected) >= 19
    arguments = [
        "dedupe",
        str(path),
        "--text",
        "page",
        "--from-html",
        "--output",
        str(tmp_path / "out"),
        "--json",
    ]
    assert json.loads(CliRunner().invoke(main, arguments).stdout)["counts"]["removed"] == len(expected)


def test_tags_are_kept_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        page(["Some words of a text that is long enough to be one. " * 5], 0, 1)
    )
    (source,) = open_sources(tmp_path / "page.html")
    assert "<p>" not in str(read(tmp_path / "page.html")[1].text(0, 0))
    assert "<p>" in str(
        find_duplicates(tmp_path / "page.html", options=Options(format="text")).corpus.text(0, 0)
    )
    assert source.suffix == ".html"
