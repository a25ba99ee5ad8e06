"""Shells complete commands: the scripts are printed, and each request is answered with status 0."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.doors.shell import process, run


@pytest.mark.parametrize(
    "shell, mark", [("bash", "complete"), ("zsh", "#compdef benzer"), ("fish", "complete")]
)
def test_completion_prints_the_script_of_a_shell(shell: str, mark: str) -> None:
    script = run("completion", shell).stdout
    assert mark in script
    assert "_BENZER_COMPLETE" in script


# What each shell sends to complete "benzer de", and what the program must answer.
COMPLETIONS = {
    "bash": ({"COMP_WORDS": "benzer de", "COMP_CWORD": "1"}, b"plain,dedupe"),
    "zsh": ({"COMP_WORDS": "benzer de", "COMP_CWORD": "1"}, b"plain\ndedupe\n"),
    "fish": ({"COMP_WORDS": "benzer de", "COMP_CWORD": "de"}, b"plain,dedupe"),
}


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_completion_answers_each_shell_with_status_0(shell: str) -> None:
    words, answered = COMPLETIONS[shell]
    done = process(env={**os.environ, **words, "_BENZER_COMPLETE": f"{shell}_complete"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert answered in done.stdout


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_completion_source_ends_with_status_0(shell: str) -> None:
    done = process(env={**os.environ, "_BENZER_COMPLETE": f"{shell}_source"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().strip() == run("completion", shell).stdout.strip()


def test_options_that_help_omits_are_completed() -> None:
    words = {"COMP_WORDS": "benzer dedupe --check", "COMP_CWORD": "2", "_BENZER_COMPLETE": "bash_complete"}
    assert process(env={**os.environ, **words}).stdout == b"plain,--checkpoint\n"


def test_an_unknown_completion_request_is_a_usage_error() -> None:
    assert process(env={**os.environ, "_BENZER_COMPLETE": "tcsh_source"}).returncode == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_a_command_line() -> None:
    """The function that the script defines fills COMPREPLY, as bash calls it after a press of Tab."""
    script = run("completion", "bash").stdout
    line = f"""
        {script.replace(" $1)", f" {sys.executable} -m benzer)")}
        COMP_WORDS=(benzer ded); COMP_CWORD=1
        _benzer_completion benzer ded benzer; echo "status $?"; echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=True)
    assert "status 0" in done.stdout
    assert "dedupe" in done.stdout.split()
