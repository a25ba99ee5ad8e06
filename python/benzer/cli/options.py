"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benzer.checks import ID_SCOPES, ON_DUPLICATE_ID

if TYPE_CHECKING:
    from click.types import OptionHelpExtra

F = TypeVar("F", bound=Callable[..., Any])
INPUT, TEXT, MATCHING, OUTPUT = "Input options", "Text options", "Matching options", "Output options"
RESOURCES, SPARK, SERVER, LIMITS = "Resource options", "Spark options", "Server options", "Limits"
OTHER = "Other options"
SECTIONS = (INPUT, TEXT, MATCHING, OUTPUT, RESOURCES, SPARK, SERVER, LIMITS, OTHER)
"""The headings of `--help-all`, in this order."""
HELP_ALL = "--help-all"
FIRST_EXAMPLES = 4


class SectionOption(click.Option):
    """An option that `--help-all` lists under a heading."""

    def __init__(self, *args: Any, section: str = OTHER, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """Show a described default without the parentheses that click adds."""
        extra = super().get_help_extra(ctx)
        if isinstance(self.show_default, str):
            extra["default"] = self.show_default
        return extra


def option(section: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """Add an option that `--help-all` lists under this heading; otherwise like `click.option`."""
    return click.option(*names, cls=SectionOption, section=section, **settings)


class ExampleCommand(click.Command):
    """A command whose help shows examples before the options.

    `common` names options, separated by spaces: then `--help` shows only these and the first examples, and
    `--help-all` shows everything, with the options by section.

    >>> ExampleCommand("greet", examples="greet world").examples
    'greet world'
    """

    def __init__(self, *args: Any, examples: str = "", common: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.common = common.split()
        self.params.append(self.help_all_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the arguments as typed."""
        ctx.meta["benzer.arguments"] = list(args)
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples between the description and the options."""
        super().format_help_text(ctx, formatter)
        blocks = self.examples.split("\n\n")
        write_examples(formatter, "\n\n".join(blocks[:FIRST_EXAMPLES] if self.common else blocks))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the common options, or all options if none are named."""
        options = self.options(ctx)
        if self.common:
            by_name = {name: option for option in options for name in option.opts}
            options = [by_name[name] for name in (*self.common, HELP_ALL, "--help")]
        write_options(ctx, formatter, "Options", options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how to see the options that are not listed."""
        if self.common:
            number = len(self.options(ctx))
            formatter.write(f"\nRun '{ctx.command_path} {HELP_ALL}' to see all {number} options.\n")

    def get_help_all(self, ctx: click.Context) -> str:
        """Return the help with all examples, and all options by section."""
        if not self.common:
            return self.get_help(ctx)
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        super().format_help_text(ctx, formatter)
        write_examples(formatter, self.examples)
        for section in SECTIONS:
            options = [option for option in self.options(ctx) if getattr(option, "section", OTHER) == section]
            write_options(ctx, formatter, section, options)
        return formatter.getvalue().rstrip("\n")

    def help_all_option(self) -> click.Option:
        """Make the option that shows the complete help."""

        def print_all(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
            if wanted and not ctx.resilient_parsing:
                click.echo(self.get_help_all(ctx), color=ctx.color)
                ctx.exit()

        return click.Option(
            [HELP_ALL], is_flag=True, is_eager=True, expose_value=False, callback=print_all,
            help="Show all options and examples and exit.", hidden=not self.common,
        )  # fmt: skip

    def options(self, ctx: click.Context) -> list[click.Option]:
        """List all options of the command."""
        return [param for param in self.get_params(ctx) if isinstance(param, click.Option)]


def write_options(
    ctx: click.Context, formatter: click.HelpFormatter, heading: str, options: Sequence[click.Option]
) -> None:
    """Write options under a heading, if there are any."""
    records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(heading):
            formatter.write_dl(records)


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
        option(
            MATCHING, "--threshold", metavar="NUMBER", type=click.FloatRange(0, 1, min_open=True), default=threshold,
            show_default=True if threshold else "0.8, or as set by the image method",
            help="Minimum similarity of a match.",
        ),
        option(
            MATCHING, "--recall", metavar="NUMBER", type=click.FloatRange(0, 1, min_open=True, max_open=not exact),
            default=recall, show_default=True,
            help="Minimum probability of finding a pair at the threshold"
            + (" (1: exact join)." if exact else "."),
        ),
    )  # fmt: skip


on_error_option = option(
    INPUT, "--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
    help="Stop at a malformed row, or skip and count it.",
)  # fmt: skip


id_options = stacked(
    option(
        INPUT, "--on-duplicate-id", type=click.Choice(ON_DUPLICATE_ID), default="number", show_default=True,
        help="Give a repeated id the name of file and row, skip the row, or stop.",
    ),
    option(
        INPUT, "--id-scope", type=click.Choice(ID_SCOPES), default="all", show_default=True,
        help="Require unique ids in all files, or put the name of its file before each.",
    ),
)  # fmt: skip


def check_seed(ctx: click.Context, param: click.Parameter, seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise click.BadParameter(f"{seed} is not in the range 0 to 2^64 - 1.")
    return seed


seed_option = option(
    MATCHING, "--seed", type=int, default=0, show_default=True, callback=check_seed, metavar="NUMBER",
    help="Seed of the hash functions. The same seed gives the same result.",
)  # fmt: skip
threads_option = option(
    RESOURCES, "--threads", type=click.IntRange(min=0), default=0, metavar="NUMBER",
    help="Number of threads; 0 uses all cores. Does not affect the result.",
)  # fmt: skip
json_option = option(OUTPUT, "--json", "as_json", is_flag=True, help="Print JSON to stdout.")


def given(*names: str) -> list[str]:
    """Return the options that were given on the command line, without those set by default."""
    ctx = click.get_current_context()
    wrote = click.core.ParameterSource.COMMANDLINE
    return [name for name in names if ctx.get_parameter_source(name) == wrote]
