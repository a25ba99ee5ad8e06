"""The help of every command is short, and the help of every option starts with a verb or a noun."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from benzer.cli import main
from benzer.cli.options import SECTIONS, ExampleCommand
from tests.doors.shell import one_line, run

LONGEST, MOST_OPTIONS = 80, 14
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


LONG = [path for path, one in COMMANDS.items() if isinstance(one, ExampleCommand) and one.common]


def context(path: str) -> click.Context:
    return click.Context(
        COMMANDS[path], info_name=path, terminal_width=80, help_option_names=["-h", "--help"]
    )


def listed(text: str) -> list[str]:
    """The options that a help text lists, each by its last name."""
    return [
        name
        for line in re.findall(r"^  (-.*?)(?:  |$)", text, re.MULTILINE)
        for name in re.findall(r"(--[a-z-]+)(?: / |[ A-Z\[]|$)", line)[:1]
    ]


@pytest.mark.parametrize("path", COMMANDS)
def test_help_of_a_command_lists_few_options(path: str) -> None:
    assert 1 <= len(listed(COMMANDS[path].get_help(context(path)))) <= MOST_OPTIONS


@pytest.mark.parametrize("path", LONG)
def test_help_ends_with_the_command_that_lists_all_options(path: str) -> None:
    command = COMMANDS[path]
    number = len(command.params) + 1 - sum(isinstance(one, click.Argument) for one in command.params)
    last = command.get_help(context(path)).splitlines()[-1]
    assert last == f"Run '{path} --help-all' to see all {number} options."


@pytest.mark.parametrize("path", LONG)
def test_help_all_lists_each_option_once_under_a_heading(path: str) -> None:
    command = COMMANDS[path]
    assert isinstance(command, ExampleCommand)
    text = command.get_help_all(context(path))
    options = {one.opts[-1] for one in command.params if isinstance(one, click.Option)} | {"--help"}
    assert sorted(listed(text)) == sorted({*options} - {"format"})
    headings = [heading for heading in SECTIONS if f"\n{heading}:\n" in text]
    assert len(headings) >= 3
    places = [text.index(f"\n{heading}:\n") for heading in headings]
    assert places == sorted(places)
    last = text.split(f"\n{SECTIONS[-1]}:\n")[1]
    assert listed(last) == ["--help-all", "--help"]


@pytest.mark.parametrize("path", LONG)
def test_help_shows_the_first_examples_and_help_all_shows_all(path: str) -> None:
    command = COMMANDS[path]
    assert isinstance(command, ExampleCommand)
    short, full = command.get_help(context(path)), command.get_help_all(context(path))
    examples = [line for line in command.examples.splitlines() if line.startswith("# ")]
    assert [line for line in examples if line in short] == examples[:4]
    assert [line for line in examples if line in full] == examples


def test_help_all_needs_no_arguments_and_shows_what_help_omits() -> None:
    assert "--stop-words" not in run("dedupe", "--help").stdout
    assert "--stop-words" in run("dedupe", "--help-all").stdout


@pytest.mark.parametrize("name", ["search", "keys"])
def test_help_all_of_a_command_with_few_options_is_its_help(name: str) -> None:
    assert run(name, "--help-all").stdout == run(name, "--help").stdout


def test_an_unknown_option_suggests_one_that_help_omits() -> None:
    assert "Did you mean one of: '--checkpoint'" in one_line(
        run("dedupe", "docs.jsonl", "--checkpont", "saved", status=2)
    )


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
