"""`benzer completion`: how does a shell learn the commands and options?"""

from __future__ import annotations

import click

from benzer.cli import options as shared

EXAMPLES = """\
# bash, for this session
eval "$(benzer completion bash)"

# bash, for good
benzer completion bash > ~/.local/share/bash-completion/completions/benzer

# zsh, in a folder that is in $fpath
benzer completion zsh > ~/.zfunc/_benzer

# fish
benzer completion fish > ~/.config/fish/completions/benzer.fish
"""


@click.command(
    "completion",
    cls=shared.TaughtCommand,
    examples=EXAMPLES,
    short_help="Print the completion script of a shell.",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the script that completes commands, options and file names in SHELL."""
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"no completion for {shell}; there is one for bash, zsh and fish.")
    click.echo(script(ctx.find_root().command, {}, "benzer", "_BENZER_COMPLETE").source())
    return 0
