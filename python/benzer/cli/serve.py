"""`benzer serve`: run the HTTP service and its web pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.serve_limits import LIMITS, limit_options, limits_of
from benzer.views import outputs

if TYPE_CHECKING:
    from benzer.service.indexes.catalog import Catalog

EXAMPLES = """\
# Try it with sample documents, which are deleted at shutdown
benzer serve

# Serve an index on this machine, at http://127.0.0.1:8000
benzer serve docs.benzer

# Use any free port; the address is printed to stderr
benzer serve docs.benzer --port 0

# Serve other machines, which need a key
benzer keys add service.keys --name me --scope write
benzer serve docs.benzer --host 192.0.2.7 --port 8080 --keys service.keys
"""
COMMON = "--host --port --home --keys --origin --rate --log-format --log-level"


@click.command(
    "serve",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    common=COMMON,
    short_help="Serve indexes over HTTP, with web pages.",
)
@click.argument("indexes", nargs=-1, metavar="[[NAME=]INDEX]...")
@shared.option(shared.SERVER, "--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@shared.option(
    shared.SERVER,
    "--port",
    metavar="NUMBER",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 uses any free port.",
)
@shared.option(
    shared.SERVER,
    "--home",
    metavar="FOLDER|URL",
    help="Also serve the indexes of a folder or Redis server and create new ones there.",
)
@shared.option(
    shared.SERVER,
    "--keys",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Accept only requests with a key from this file (see benzer keys).",
)
@shared.option(
    shared.SERVER,
    "--origin",
    "origins",
    metavar="URL",
    multiple=True,
    help="Allow requests from pages of this origin, e.g. https://example.org. Repeatable.",
)
@shared.option(
    shared.SERVER,
    "--rate",
    metavar="NUMBER",
    type=click.FloatRange(0, min_open=True),
    show_default="unlimited",
    help="Maximum requests per minute for each key, or each address without a key.",
)
@shared.option(
    shared.SERVER, "--log-format", type=click.Choice(["json", "text", "off"]), default="text", show_default=True,
    help="Format of the log line that is written to stderr for each request.",
)  # fmt: skip
@shared.option(
    shared.SERVER, "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info",
    show_default=True, help="Minimum level of log lines; successful requests have level info.",
)  # fmt: skip
@limit_options
def command(indexes: tuple[str, ...], **given: Any) -> None:
    """Serve INDEXES over HTTP, with web pages.

    Each INDEX is a file or a redis:// URL, with an optional name: NAME=FILE or NAME=URL. Without INDEX and --home,
    the service uses sample documents. It runs until it is stopped and completes running requests first. Open the
    address in a browser for the pages; /docs and /openapi.json describe the API.
    """
    from benzer.service import Limits, serve

    def started(catalog: Catalog, address: str) -> None:
        console.note(outputs.serving(catalog, address))

    if not indexes and given["home"] is None:
        console.note(outputs.SAMPLES)
    limits = Limits(**limits_of({name: given.pop(name) for name in [item.field for item in LIMITS]}))
    serve(indexes, **given, limits=limits, started=started)
