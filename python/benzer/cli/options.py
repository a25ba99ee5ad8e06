"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
PLAIN, FIELDS, TEXTS = "Options", "Input options", "Text options"
SECTIONS = (PLAIN, FIELDS, TEXTS)


class SectionOption(click.Option):
    """An option that is listed in a named section of the help."""

    def __init__(self, *args: Any, section: str = PLAIN, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


field_option = partial(click.option, cls=SectionOption, section=FIELDS)
text_option = partial(click.option, cls=SectionOption, section=TEXTS)


class ExampleCommand(click.Command):
    """A command whose help shows examples before the options, and groups the options into sections.

    >>> ExampleCommand("greet", examples="greet world").examples
    'greet world'
    """

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the arguments as typed."""
        ctx.meta["benzer.arguments"] = list(args)
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples between the description and the options."""
        super().format_help_text(ctx, formatter)
        write_examples(formatter, self.examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options by section."""
        listed = [
            (SECTIONS.index(getattr(option, "section", PLAIN)), record)
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)) is not None
        ]
        for section, records in groupby(sorted(listed, key=lambda one: one[0]), key=lambda one: one[0]):
            with formatter.section(SECTIONS[section]):
                formatter.write_dl([record for _, record in records])


class ExampleGroup(ExampleCommand, click.Group):
    """A command with subcommands, which its help lists after the options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, then the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def write_examples(formatter: click.HelpFormatter, examples: str) -> None:
    """Write examples without wrapping, so that they can be copied."""
    with formatter.section("Examples"):
        for line in examples.splitlines():
            formatter.write(f"  {line}\n" if line else "\n")


def stacked(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Combine several options into one decorator; the help lists them in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def promise_options(
    threshold: float | None = 0.8, recall: float | None = 0.95, exact: bool = False
) -> Callable[[F], F]:
    """Add `--threshold` and `--recall` to a command.

    If `threshold` is None, the default depends on the compared fields. `exact` allows a recall of 1.
    """
    return stacked(
        click.option(
            "--threshold", metavar="NUMBER", type=click.FloatRange(0, 1, min_open=True), default=threshold,
            show_default=True if threshold else "0.8; images: depends on the method",
            help="Minimum similarity of a match.",
        ),
        click.option(
            "--recall", metavar="NUMBER", type=click.FloatRange(0, 1, min_open=True, max_open=not exact),
            default=recall, show_default=True,
            help="Minimum probability of finding a pair at the threshold"
            + (" (1: exact join)." if exact else "."),
        ),
    )  # fmt: skip


on_error_option = click.option(
    "--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
    help="Stop at a malformed row, or skip and count it.",
)  # fmt: skip


def check_seed(ctx: click.Context, param: click.Parameter, seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise click.BadParameter(f"{seed} is not in the range 0 to 2^64 - 1.")
    return seed


seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, callback=check_seed, metavar="NUMBER",
    help="Seed of the hash functions. The same seed gives the same result.",
)  # fmt: skip
threads_option = click.option(
    "--threads", type=click.IntRange(min=0), default=0, metavar="NUMBER",
    help="Number of threads; 0 uses all cores. Does not affect the result.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON to stdout.")


def given(*names: str) -> list[str]:
    """Return the options that were given on the command line, without those set by default."""
    ctx = click.get_current_context()
    wrote = click.core.ParameterSource.COMMANDLINE
    return [name for name in names if ctx.get_parameter_source(name) == wrote]
