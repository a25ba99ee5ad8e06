"""The `benzer` command: its subcommands, error handling and exit status."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, NoReturn

import click

from benzer.cli.options import write_examples
from benzer.errors import BenzerError

# NumPy loads a linear algebra library that Benzer does not use. It starts a thread per core when it is loaded, which
# takes 50 ms of the 80 to 130 ms that NumPy needs on two cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

OK, USAGE, BUG, STOPPED, PIPE_CLOSED, TERMINATED = 0, 2, 70, 130, 141, 143
COMPLETE_VARIABLE = "_BENZER_COMPLETE"

SECTIONS = {
    "File commands": ("dedupe", "contained", "compare", "tune"),
    "Index commands": (
        "index", "search", "serve", "keys", "remove", "evict", "merge", "export", "import", "compact",
        "check", "backup", "restore",
    ),
    "Other commands": ("info", "experiments", "completion"),
}  # fmt: skip


class Commands(Mapping[str, click.Command]):
    """The commands by name, in the order of typical use; a command's module is imported on first access.

    >>> Commands()["dedupe"].name
    'dedupe'
    """

    def __getitem__(self, name: str) -> click.Command:
        if name not in tuple(self):
            raise KeyError(name)
        command: click.Command = import_module(f"benzer.cli.{MODULES.get(name, name)}").command
        return command

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(SECTIONS.values())

    def __len__(self) -> int:
        return sum(map(len, SECTIONS.values()))


MODULES = {"import": "import_"}
COMMANDS = Commands()

EXAMPLES = """\
# Remove near-duplicates from a JSONL file
benzer dedupe docs.jsonl --output clean

# Create an index and search it for documents similar to a text
benzer index docs.benzer docs.jsonl
benzer search docs.benzer --file letter.txt

# Do the same with images
benzer dedupe photos --images grid --output clean
benzer index photos.benzer photos --images grid
benzer search photos.benzer --file photo.jpg

# Show what two files have in common
benzer compare old.txt new.txt

# Show what a threshold finds
benzer tune --threshold 0.8 --recall 0.95
"""


class BenzerGroup(click.Group):
    """Lists the commands in the order of typical use and converts errors to an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order in which a new user needs them."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section."""
        width = max(map(len, COMMANDS))
        for heading, section in SECTIONS.items():
            with formatter.section(heading):
                limit = formatter.width - 6 - width
                formatter.write_dl(
                    [(name.ljust(width), COMMANDS[name].get_short_help_str(limit)) for name in section]
                )

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples between the description and the options."""
        super().format_help_text(ctx, formatter)
        write_examples(formatter, EXAMPLES)

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run one command line and exit the process with its status."""
        discard_closed_output()
        named = {**kwargs, "prog_name": "benzer", "standalone_mode": False}
        sys.exit(exit_status(partial(super().main, *args, **named)))


def discard_closed_output() -> None:
    """Discard output to a standard stream that the caller has closed (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))


def exit_status(run: Callable[[], Any]) -> int:
    """Run a command, report an error in one line on stderr, and return the exit status.

    An error that is not caused by usage, input or the system is a bug: it is printed with its traceback and gives 70.
    """
    try:
        with tidy_sigterm():
            status = run()
        return status if isinstance(status, int) else OK
    except click.exceptions.UsageError as error:
        return fail(f"{error.format_message()} {usage_hint(error)}")
    except click.ClickException as error:
        return fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        return fail("stopped; no partial output was left", STOPPED, "benzer: ")
    except BenzerError as error:
        return fail(str(error))
    except OSError as error:
        return fail(system_message(error))
    except MemoryError:
        return fail("out of memory: process fewer documents at a time or use a machine with more memory")
    except SystemExit as leaving:
        return status_of_exit(leaving.code)
    except BaseException:  # a panic of the native core is not an Exception
        import traceback

        traceback.print_exc()
        return fail("this is a bug in Benzer, not in your input; please report the lines above", BUG)


def status_of_exit(code: Any) -> int:
    """Return the exit status for a `SystemExit`, which click, shell completion and SIGTERM raise.

    Click exits with 1 in two cases: when stdout is a closed pipe, and when a completion script uses a feature that
    this version of click does not support.

    >>> status_of_exit(0), status_of_exit(1), status_of_exit(143)
    (0, 141, 143)
    """
    if code == 1:
        return USAGE if os.environ.get(COMPLETE_VARIABLE) else PIPE_CLOSED
    return code if isinstance(code, int) else OK


@contextmanager
def tidy_sigterm() -> Iterator[None]:
    """Turn SIGTERM into an exit, so that every `finally` block removes its partial files."""

    def leave(signum: int, frame: object) -> NoReturn:
        sys.exit(TERMINATED)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not in the main thread, where signals do not arrive
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def fail(message: str, status: int = USAGE, prefix: str = "benzer: error: ") -> int:
    """Print a message as one line and return the exit status."""
    click.echo(prefix + " ".join(message.split()), err=True)
    return status


def usage_hint(error: click.exceptions.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "benzer"
    return f"(see '{path} --help')"


def system_message(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def print_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from benzer._native import __version__

    click.echo(f"benzer {__version__}")
    ctx.exit()


@click.group(
    cls=BenzerGroup,
    commands=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=print_version,
    help="Show the version and exit.",
)  # fmt: skip
@click.pass_context
def main(ctx: click.Context) -> None:
    """Find near-duplicate documents, and the documents most similar to a given one.

    Documents are texts, sets of values, images, or several fields of these. Reported similarities are exact. The
    similarity of two texts is the share of shingles (runs of words) that they have in common. A document is removed
    only if its similarity to a kept document reaches the threshold.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
