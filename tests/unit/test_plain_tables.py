"""A table in a pipe looks as `rich` would set it, though `rich` is not asked."""

from __future__ import annotations

import io
from random import Random

from rich.console import Console

from benzer.cli import console
from benzer.cli.group import COMMANDS
from benzer.views.tables import TableView, counts_table, facts_table, headed_table

CELLS = ["", "a", "long words here", "12,345", "  indented", "[x] y", "-"]


def set_by_rich(view: TableView) -> str:
    drawn = io.StringIO()
    Console(file=drawn, width=console.PIPE_WIDTH, markup=False, highlight=False, emoji=False).print(
        console.table_of(view)
    )
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines())


def test_plain_tables_are_set_as_rich_sets_them() -> None:
    random = Random(1)
    for _ in range(200):
        columns = random.randint(1, 5)
        rows = [[random.choice(CELLS) for _ in range(columns)] for _ in range(random.randint(0, 6))]
        empty = random.randrange(columns)
        for row in rows if random.random() < 0.3 else []:
            row[empty] = ""
        headings = [random.choice(CELLS) for _ in range(columns)]
        tables = [headed_table(headings, rows, random.randint(0, columns))]
        tables += [counts_table([(a, b, c) for a, b, c in rows])] if columns == 3 else []
        tables += [facts_table([(a, b) for a, b in rows])] if columns == 2 else []
        for table in tables:
            assert console.is_plain(table)
            assert console.laid_out(table) == set_by_rich(table)


def test_what_is_not_plain_is_left_to_rich() -> None:
    for cell in ("ü", "two\nlines", "\x1b[1m", "ends with a space "):
        assert not console.is_plain(facts_table([("name", cell)]))


def test_every_command_is_found_by_its_name() -> None:
    assert len(COMMANDS) == len(list(COMMANDS)) == len(set(COMMANDS))
    assert all(command.name == name for name, command in COMMANDS.items())
    assert "no such" not in COMMANDS
