"""`benzer serve`: how do other programs ask an index, in whatever language they are written?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.serve_limits import limit_options, limits_of

if TYPE_CHECKING:
    from benzer.service.catalog import Catalog

EXAMPLES = """\
# Serve an index on this machine, at http://127.0.0.1:8000
benzer serve docs.benzer

# On any free port; the address is printed on stderr
benzer serve docs.benzer --port 0

# To other machines; whoever reaches it may change the index
benzer serve docs.benzer --host 192.0.2.7 --port 8080 --allow-remote
"""


@click.command(
    "serve",
    cls=shared.TaughtCommand,
    examples=EXAMPLES,
    short_help="Serve an index to other programs by HTTP.",
)
@click.argument("indexes", nargs=-1)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen to.")
@click.option(
    "--port",
    metavar="NUMBER",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen to, 0 for any free one.",
)
@click.option("--home", metavar="FOLDER", help="Serve the indexes of a folder, too, and make new ones there.")
@click.option(
    "--log-format", type=click.Choice(["json", "text", "off"]), default="text", show_default=True,
    help="A line on stderr for each request: for programs, for people, or none.",
)  # fmt: skip
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info", show_default=True,
    help="Least level of the lines; requests that went well are of info.",
)  # fmt: skip
@limit_options
def command(
    indexes: tuple[str, ...], host: str, port: int, home: str | None, log_format: str, log_level: str,
    **limits: Any,
) -> None:  # fmt: skip
    """Answer HTTP requests for INDEXES, to add, look up, remove and find similar documents.

    It runs until it is stopped; a request that has begun is answered. /openapi.json describes the requests.
    """
    from benzer.service import Limits, serve

    def started(catalog: Catalog, address: str) -> None:
        console.note(f"serving {', '.join(catalog)} at {address}")

    serve(
        indexes, host, port, home=home, limits=Limits(**limits_of(limits)), log_format=log_format,
        log_level=log_level, started=started,
    )  # fmt: skip
