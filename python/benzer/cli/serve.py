"""`benzer serve`: how do people in a browser, and programs in any language, ask an index?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.serve_limits import LIMITS, limit_options, limits_of

if TYPE_CHECKING:
    from benzer.service.indexes.catalog import Catalog

EXAMPLES = """\
# Try it with sample documents, which are forgotten at the end
benzer serve

# Serve an index on this machine, at http://127.0.0.1:8000
benzer serve docs.benzer

# On any free port; the address is printed on stderr
benzer serve docs.benzer --port 0

# To other machines: whoever asks needs a key
benzer keys add service.keys --name me --scope write
benzer serve docs.benzer --host 192.0.2.7 --port 8080 --keys service.keys
"""


@click.command(
    "serve",
    cls=shared.TaughtCommand,
    examples=EXAMPLES,
    short_help="Serve indexes: pages for people, HTTP for programs.",
)
@click.argument("indexes", nargs=-1, metavar="[[NAME=]INDEX]...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen to.")
@click.option(
    "--port",
    metavar="NUMBER",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen to, 0 for any free one.",
)
@click.option(
    "--home",
    metavar="FOLDER|URL",
    help="Serve the indexes of a folder, or of a Redis server, too; new ones are made there.",
)
@click.option(
    "--keys",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Let in only those who send a key of this file (see benzer keys).",
)
@click.option(
    "--origin",
    "origins",
    metavar="URL",
    multiple=True,
    help="Let the pages of another origin ask, such as https://example.org; may be given several times.",
)
@click.option(
    "--rate",
    metavar="NUMBER",
    type=click.FloatRange(0, min_open=True),
    help="Most requests a minute of each key, or of each address without one.  [default: any number]",
)
@click.option(
    "--log-format", type=click.Choice(["json", "text", "off"]), default="text", show_default=True,
    help="A line on stderr for each request: for programs, for people, or none.",
)  # fmt: skip
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info", show_default=True,
    help="Least level of the lines; requests that went well are of info.",
)  # fmt: skip
@limit_options
def command(indexes: tuple[str, ...], **given: Any) -> None:
    """Serve INDEXES to people, as pages in a browser, and to programs, by HTTP.

    Each of INDEXES is a file or a redis:// URL, or NAME=FILE, NAME=URL to give it a name. Without any, and without
    --home, sample documents are served to try it. It runs until it is stopped; a request that has begun is
    answered. Open the address for the pages; /docs and /openapi.json describe the requests.
    """
    from benzer.service import Limits, serve

    def started(catalog: Catalog, address: str) -> None:
        console.note(f"serving {', '.join(catalog)} at {address}")

    if not indexes and given["home"] is None:
        console.note("no INDEX and no --home: serving sample documents, which are deleted at the end")
    limits = Limits(**limits_of({name: given.pop(name) for name in [one.field for one in LIMITS]}))
    serve(indexes, **given, limits=limits, started=started)
