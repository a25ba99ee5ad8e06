"""Which options do the commands share, and what do they mean to the library?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from benzer.fields import Field, Schema

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_SHINGLE_SIZES = {"word": 3, "char": 5}


class TaughtCommand(click.Command):
    """A command whose help shows examples before it lists options.

    >>> TaughtCommand("greet", examples="greet world").examples
    'greet world'
    """

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Put the examples between the description and the options."""
        super().format_help_text(ctx, formatter)
        write_examples(formatter, self.examples)


def write_examples(formatter: click.HelpFormatter, examples: str) -> None:
    """Write examples unwrapped, so that they can be copied."""
    with formatter.section("Examples"):
        for line in examples.splitlines():
            formatter.write(f"  {line}\n" if line else "\n")


def parse_shingle(ctx: click.Context | None, param: click.Parameter | None, value: str) -> tuple[str, int]:
    """Read `word:3` or `char:5` as (unit, shingle_size); the unit alone takes its usual size.

    >>> parse_shingle(None, None, "char")
    ('char', 5)
    """
    unit, _, size = value.partition(":")
    number = size or str(DEFAULT_SHINGLE_SIZES.get(unit, 0))
    if unit not in DEFAULT_SHINGLE_SIZES or not number.isdecimal() or not 1 <= int(number) <= 64:
        raise click.BadParameter(f"{value!r} is not word:N or char:N with N from 1 to 64, such as word:3.")
    return unit, int(number)


def stacked(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Make one decorator of several options; help lists them in the order given here."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def promise_options(threshold: float | None = 0.8, recall: float | None = 0.95) -> Callable[[F], F]:
    """Give a command `--threshold` and `--recall`, the two numbers of the promise."""
    return stacked(
        click.option(
            "--threshold", metavar="NUMBER", type=click.FloatRange(0, 1, min_open=True), default=threshold,
            show_default=True,
            help="Similarity from which two documents count as a pair.",
        ),
        click.option(
            "--recall", metavar="NUMBER", type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=recall, show_default=True,
            help="Promised probability of finding a pair at the threshold.",
        ),
    )  # fmt: skip


column_options = stacked(
    click.option(
        "--text", "text", metavar="COLUMN", multiple=True,
        help="Column that holds the text; again, or as FIELD=COLUMN, for several fields. [default: text]",
    ),
    click.option("--id", "id_column", metavar="COLUMN",
        help="Column that holds the id. [default: id, else made of file and row]",
    ),
    click.option(
        "--format", "format", type=click.Choice(["jsonl", "csv", "tsv", "parquet", "text"]),
        help="Format of the input. [default: by the file name]",
    ),
)  # fmt: skip

on_error_option = click.option(
    "--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
    help="A malformed row stops the run, or is set aside and counted.",
)  # fmt: skip

text_options = stacked(
    click.option(
        "--shingle", metavar="UNIT:SIZE", default="word:3", show_default=True, callback=parse_shingle,
        help="What is compared: runs of N words (word:N) or N characters (char:N).",
    ),
    click.option(
        "--normalize", type=click.Choice(["nfkc", "nfc", "none"]), default="nfkc", show_default=True,
        help="Unicode normalization before comparing.",
    ),
    click.option(
        "--case", type=click.Choice(["fold", "lower", "keep"]), default="fold", show_default=True,
        help="What becomes of upper case before comparing.",
    ),
)  # fmt: skip


def check_seed(ctx: click.Context, param: click.Parameter, seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise click.BadParameter(f"{seed} is not in the range 0 to 2^64 - 1.")
    return seed


seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, callback=check_seed, metavar="NUMBER",
    help="Seed of the hash functions; the same seed gives the same result.",
)  # fmt: skip
threads_option = click.option(
    "--threads", type=click.IntRange(min=0), default=0, metavar="NUMBER",
    help="Threads to work with, 0 for all cores; the result is the same.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout, for programs.")


def text_columns(text: Sequence[str]) -> str | dict[str, str]:
    """Read the `--text` options: one column's name, or field → column.

    >>> text_columns(["body"]), text_columns(["title", "content=body"])
    ('body', {'title': 'title', 'content': 'body'})
    """
    if not text:
        return "text"
    if len(text) == 1 and "=" not in text[0]:
        return text[0]
    columns: dict[str, str] = {}
    for value in text:
        field, _, column = value.partition("=")
        if not field or field in columns:
            raise click.UsageError(
                f"--text {value}: each field needs one name of its own, as in --text body=content."
            )
        columns[field] = column or field
    return columns


def schema_of(columns: str | dict[str, str], shingle: tuple[str, int], normalize: str, case: str) -> Schema:
    """Build the schema that the options describe: every field is text, read by the same rules."""
    from benzer.fields import Schema, Text

    unit, size = shingle
    names = ["text"] if isinstance(columns, str) else list(columns)
    rules: dict[str, Any] = {"unit": unit, "shingle_size": size, "normalize": normalize, "case": case}
    fields: dict[str, Field] = {name: Text(**rules) for name in names}
    return Schema(**fields)


def given(ctx: click.Context, *names: str) -> list[str]:
    """Name those options that the user wrote, as opposed to their defaults."""
    wrote = click.core.ParameterSource.COMMANDLINE
    return [name for name in names if ctx.get_parameter_source(name) == wrote]
