"""The help of every command and option is short and starts with a verb or a noun."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from benzer.cli import main

LONGEST = 80
CLAUSE = re.compile(
    r"(an?|the|wh\w+|how|if|for|of|by|in|at|as|so|that|this|its?|is|was|are|to|no|not|with|from|and|or|there)\b",
    re.I,
)
"""Words that begin a clause, and neither a command nor a noun phrase."""
DIALECT = re.compile(
    r"\b(stays?|goes|going|becomes?|stands?|stood|told|tells|asked|asks|held|holds|picture|pictures|of which|"
    r"like an?|may be repeated|such as|set aside|an? (day|minute|word))\b"
)


def commands(command: click.Command, path: str = "benzer") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, part in command.commands.items():
            yield from commands(part, f"{path} {name}")


COMMANDS = dict(commands(main))
OPTIONS = {
    f"{path} {option.opts[0]}": option
    for path, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
}


def check(text: str | None) -> None:
    assert text is not None
    assert len(text) <= LONGEST
    assert text[0].isupper()
    assert text.endswith(".")
    assert "[default" not in text
    assert CLAUSE.match(text) is None
    assert DIALECT.search(text) is None


def test_the_options_of_all_commands_are_checked() -> None:
    assert {"benzer dedupe --keep", "benzer keys add --scope", "benzer serve --max-body"} <= set(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_option_help_is_a_short_statement(name: str) -> None:
    check(OPTIONS[name].help)


@pytest.mark.parametrize("path", [path for path in COMMANDS if path != "benzer"])
def test_short_help_of_a_command_is_a_short_statement(path: str) -> None:
    check(COMMANDS[path].short_help)


@pytest.mark.parametrize(
    "text",
    [
        "What becomes of upper case.",
        "Which one stays: first or last.",
        "Largest picture.",
        "no capital letter.",
        "No full stop",
        "Select one of many. [default: none].",
        "Describe an option in so many words that the line of help is longer than the terminal is wide.",
    ],
)
def test_the_check_rejects_help_that_breaks_a_rule(text: str) -> None:
    with pytest.raises(AssertionError):
        check(text)
