"""`benzer keys`: create, list and remove the keys of a service."""

from __future__ import annotations

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.views import keys as views

EXAMPLES = """\
# Create a key for a program that changes documents; it is shown once
benzer keys add service.keys --name loader --scope write

# Accept only requests with a key
benzer serve docs.benzer --keys service.keys

# List the keys and remove one; a running service rejects it from then on
benzer keys list service.keys
benzer keys remove service.keys loader
"""
ADD_EXAMPLES = """\
# Create a read-only key with 600 requests per minute
benzer keys add service.keys --name website --scope read --rate 600

# Write the key to a file
benzer keys add service.keys --name loader --scope write > loader.key
"""
LIST_EXAMPLES = """\
# List names, scopes and rates
benzer keys list service.keys
"""
REMOVE_EXAMPLES = """\
# Remove a key by its name or id
benzer keys remove service.keys loader
"""
file_argument = click.argument("file", type=click.Path(dir_okay=False))


@click.group(
    "keys",
    cls=shared.ExampleGroup,
    examples=EXAMPLES,
    short_help="Create, list and remove keys of a service.",
)
def command() -> None:
    """Create, list and remove the keys of a service.

    FILE stores only a hash of each key, so a lost key cannot be recovered; create a new one instead. A running
    service reloads the file when it changes.
    """


@command.command(
    "add", cls=shared.ExampleCommand, examples=ADD_EXAMPLES, short_help="Create a key and show it once."
)
@file_argument
@click.option("--name", required=True, help="Name of the key, e.g. of the person or program that uses it.")
@click.option(
    "--scope",
    type=click.Choice(["read", "write"]),
    default="read",
    show_default=True,
    help="Scope of the key; write includes read.",
)
@shared.option(
    shared.SERVER,
    "--rate",
    metavar="NUMBER",
    type=click.FloatRange(0, min_open=True),
    show_default="set by the service",
    help="Maximum requests per minute.",
)
@shared.json_option
def add(file: str, name: str, scope: str, rate: float | None, as_json: bool) -> None:
    """Create a key, write its hash to FILE, and print the key to stdout. It is shown only once."""
    from benzer.service.keys import add_key

    key, secret = add_key(file, name, scope, rate)
    if as_json:
        console.print_json(
            {"id": key.id, "name": key.name, "scopes": key.scopes, "rate": rate, "key": secret}
        )
        return
    console.talk(views.created(name))
    console.display(secret)


@command.command(
    "list", cls=shared.ExampleCommand, examples=LIST_EXAMPLES, short_help="List the keys of a file."
)
@file_argument
@shared.json_option
def display(file: str, as_json: bool) -> None:
    """List the keys of FILE: their names, ids, scopes and rates."""
    from benzer.service.keys import read_keys

    keys = [
        {"id": key.id, "name": key.name, "scopes": key.scopes, "rate": key.rate, "created": key.created}
        for key in read_keys(file)
    ]
    if as_json:
        console.print_json({"keys": keys})
    else:
        console.display(views.keys_table(keys) if keys else views.NO_KEYS)


@command.command(
    "remove", cls=shared.ExampleCommand, examples=REMOVE_EXAMPLES, short_help="Remove a key from a file."
)
@file_argument
@click.argument("name")
@shared.json_option
def remove(file: str, name: str, as_json: bool) -> None:
    """Remove the key with this NAME or id from FILE. A running service rejects it from then on."""
    from benzer.service.keys import remove_key

    key = remove_key(file, name)
    removed = {"id": key.id, "name": key.name}
    if as_json:
        console.print_json({"removed": removed})
    else:
        console.display(views.removed(removed))
