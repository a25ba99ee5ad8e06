"""`benzer keys`: who may ask a service?"""

from __future__ import annotations

import click

from benzer.cli import console
from benzer.cli import options as shared

EXAMPLES = """\
# A key for a program that changes documents; it is shown once
benzer keys add service.keys --name loader --scope write

# Serve to those who send one
benzer serve docs.benzer --keys service.keys

# Which keys are there? End one; a service that runs lets it in no more
benzer keys list service.keys
benzer keys remove service.keys loader
"""
ADD_EXAMPLES = """\
# A key that may ask, 600 times a minute
benzer keys add service.keys --name website --scope read --rate 600

# Keep it where a program finds it
benzer keys add service.keys --name loader --scope write > loader.key
"""
LIST_EXAMPLES = """\
# Names, scopes and rates
benzer keys list service.keys
"""
REMOVE_EXAMPLES = """\
# By its name, or by its id
benzer keys remove service.keys loader
"""
file_argument = click.argument("file", type=click.Path(dir_okay=False))


@click.group(
    "keys", cls=shared.TaughtGroup, examples=EXAMPLES, short_help="Make, list and remove keys of a service."
)
def command() -> None:
    """Make, list and remove the keys of a service.

    FILE holds a hash of each key, from which no key can be had; who loses a key makes another. A service that
    runs reads the file again when it has changed.
    """


@command.command(
    "add", cls=shared.TaughtCommand, examples=ADD_EXAMPLES, short_help="Make a key, and show it once."
)
@file_argument
@click.option("--name", required=True, help="What the key is called: who or what asks with it.")
@click.option(
    "--scope",
    type=click.Choice(["read", "write"]),
    default="read",
    show_default=True,
    help="A key that may write may also read.",
)
@click.option(
    "--rate",
    metavar="NUMBER",
    type=click.FloatRange(0, min_open=True),
    help="Most requests a minute.  [default: that of the service]",
)
@shared.json_option
def add(file: str, name: str, scope: str, rate: float | None, as_json: bool) -> None:
    """Make a key, write its hash into FILE, and print the key on stdout: this once, and nowhere else."""
    from benzer.service.keys import add_key

    key, secret = add_key(file, name, scope, rate)
    if as_json:
        console.print_json(
            {"id": key.id, "name": key.name, "scopes": key.scopes, "rate": rate, "key": secret}
        )
        return
    console.talk(f"the key {console.printable(name)}, shown this once:")
    console.show(secret)


@command.command(
    "list", cls=shared.TaughtCommand, examples=LIST_EXAMPLES, short_help="List the keys of a file."
)
@file_argument
@shared.json_option
def show(file: str, as_json: bool) -> None:
    """List the keys of FILE: their names, ids, scopes and rates."""
    from benzer.service.keys import read_keys

    keys = read_keys(file)
    if as_json:
        rows = [
            {"id": key.id, "name": key.name, "scopes": key.scopes, "rate": key.rate, "created": key.created}
            for key in keys
        ]
        console.print_json({"keys": rows})
        return
    headings = ["name", "id", "scope", "rate", "created"]
    cells = [
        [
            console.printable(key.name), key.id, key.scopes[-1],
            "" if key.rate is None else f"{key.rate:g} a minute", key.created[:10],
        ]
        for key in keys
    ]  # fmt: skip
    console.show(console.headed_table(headings, cells) if cells else "no keys")


@command.command(
    "remove", cls=shared.TaughtCommand, examples=REMOVE_EXAMPLES, short_help="Remove a key from a file."
)
@file_argument
@click.argument("name")
@shared.json_option
def remove(file: str, name: str, as_json: bool) -> None:
    """Remove the key of this NAME, or id, from FILE; a service that runs lets it in no more."""
    from benzer.service.keys import remove_key

    key = remove_key(file, name)
    if as_json:
        console.print_json({"removed": {"id": key.id, "name": key.name}})
        return
    console.show(f"removed {console.printable(key.name)} ({key.id})")
