"""The checker of user-facing texts: each pattern finds its bad example, and every kind of text is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.check_prose import PATTERNS, Pattern, findings, run
from tools.prose_texts import Text, texts
from tools.sample_sentences import by_kind


def advice(pattern: Pattern, content: str) -> list[str]:
    """The advice on a text of a kind that the pattern applies to."""
    kind = pattern.kinds[0] if pattern.kinds else "markdown"
    return [advice for _, _, advice in findings(Text(kind, 1, content))]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.bad)
def test_pattern_finds_its_bad_example_and_passes_its_good_one(pattern: Pattern) -> None:
    assert pattern.advice in advice(pattern, pattern.bad)
    assert advice(pattern, pattern.good) == []


def found_in(tmp_path: Path, name: str, content: str) -> list[tuple[int, str]]:
    """The lines and words of the findings in a file."""
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return [(line, words) for text in texts(path) for line, words, _ in findings(text)]


def test_a_phrase_that_is_broken_over_two_lines_is_found(tmp_path: Path) -> None:
    assert found_in(tmp_path, "a.md", "One\ntwo, of\nwhich three\n") == [(2, "of which")]


def test_code_in_markdown_is_not_read(tmp_path: Path) -> None:
    text = "`picture`\n\n```text\npicture\n```\n[see](picture.md) <!-- picture -->\npicture\n"
    assert found_in(tmp_path, "a.md", text) == [(7, "picture")]


def test_docstrings_help_texts_and_errors_of_python_are_read(tmp_path: Path) -> None:
    text = '''"""Add a picture."""

picture = "picture"


def add(picture: str) -> None:
    """First line.

    >>> picture = 1
    >>> picture
    1

    Then the picture.
    """
    option("--picture", help="Name a picture.")
    raise ValueError(f"{picture} is no picture")


def _hidden() -> None:
    """A picture."""
'''
    assert found_in(tmp_path, "a.py", text) == [
        (1, "picture"),
        (13, "picture"),
        (15, "picture"),
        (16, "picture"),
    ]


def test_text_and_spoken_attributes_of_html_are_read(tmp_path: Path) -> None:
    text = '<p class="picture" title="a picture">{{ picture }} a\npicture</p><script>picture</script>'
    assert found_in(tmp_path, "a.html", text) == [(1, "picture"), (2, "picture")]


def test_strings_of_javascript_are_read(tmp_path: Path) -> None:
    text = '// a picture\nconst picture = "picture";\nshow(`a picture of ${picture}`);\n'
    assert found_in(tmp_path, "a.js", text) == [(3, "picture")]


def test_comments_of_rust_are_read(tmp_path: Path) -> None:
    text = '//! One\n//! picture.\n\nfn picture() {\n    // A picture.\n    let a = "picture";\n}\n'
    assert found_in(tmp_path, "a.rs", text) == [(2, "picture"), (5, "picture")]


def test_findings_are_printed_with_their_place_and_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.md").write_text("One\n\na picture\n", encoding="utf-8")
    assert run([str(tmp_path)]) == 1
    line = capsys.readouterr().out
    assert line.endswith("a.md:3: picture: write: image\n")


def test_a_text_without_findings_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.md").write_text("One image.\n", encoding="utf-8")
    assert run([str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


def test_sample_has_sentences_of_every_kind() -> None:
    kinds = set(by_kind())
    assert {"README.md", "how-to", "explanation", "docstring", "error", "help", "page", "script"} <= kinds
