"""What does every command say of itself? Writes docs/reference/cli.md from the commands' own help.

`python tools/make_cli_reference.py` writes the page; with `--check` it only says whether it is up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from benzer.cli import main

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"
WIDTH = 100
INTRODUCTION = """\
# The command line

<!-- Made by tools/make_cli_reference.py from the commands' own help: change that, then `make docs`. -->

Results go to stdout, talk to stderr. The exit status is 0 when all went well, 1 when the command ran and found
something wrong (malformed rows were set aside), and 2 when the usage or the input is at fault; then one line says
what, and what helps.
"""


def page() -> str:
    """The whole page.

    >>> page().startswith("# The command line")
    True
    """
    root = main.make_context(
        "benzer", [], resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH
    )
    return INTRODUCTION + "".join(map(section, contexts(root)))


def contexts(context: click.Context) -> Iterator[click.Context]:
    """A command, then those that it holds."""
    yield context
    if isinstance(context.command, click.Group):
        for name, command in context.command.commands.items():
            yield from contexts(click.Context(command, parent=context, info_name=name))


def section(context: click.Context) -> str:
    """One command's help as a section."""
    with context.scope(cleanup=False):
        help_text = click.unstyle(context.command.get_help(context))
    return f"\n## {context.command_path}\n\n```text\n{help_text.rstrip()}\n```\n"


def run(arguments: list[str]) -> int:
    """Write the page, or say whether it is stale."""
    if arguments == ["--check"]:
        fresh = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
        print(f"{PAGE.name} is {'up to date' if fresh else 'stale: run `make docs`'}")
        return 0 if fresh else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
