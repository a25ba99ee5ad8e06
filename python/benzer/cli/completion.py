"""`benzer completion`: print a shell completion script."""

from __future__ import annotations

import click

from benzer.cli import options as shared

EXAMPLES = """\
# Enable completion in bash for this session
eval "$(benzer completion bash)"

# Install it for bash
benzer completion bash > ~/.local/share/bash-completion/completions/benzer

# Install it for zsh, in a folder of $fpath
benzer completion zsh > ~/.zfunc/_benzer

# Install it for fish
benzer completion fish > ~/.config/fish/completions/benzer.fish
"""


@click.command(
    "completion",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Print the completion script for a shell.",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the script that completes commands, options and file names in a shell."""
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"no completion for {shell}: use bash, zsh or fish.")
    click.echo(script(ctx.find_root().command, {}, "benzer", "_BENZER_COMPLETE").source())
    return 0
