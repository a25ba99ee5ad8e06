"""What is shipped to start the service with fits the command that it starts."""

from __future__ import annotations

import json
import re
import shlex
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from benzer.cli.serve import command
from benzer.cli.serve_limits import LIMITS
from benzer.service import Limits

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "how-to" / "run-the-service.md").read_text()


def unit() -> ConfigParser:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((DEPLOY / "benzer.service").read_text())
    return parser


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def instruction(name: str) -> list[str]:
    """The words of the last such line of the Dockerfile."""
    found: list[str] = json.loads(
        re.findall(rf"^{name} (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.M)[-1]
    )
    return found


def lines() -> dict[str, list[str]]:
    """What follows `benzer serve` in each file."""
    begin = instruction("ENTRYPOINT")
    assert begin[:2] == ["/opt/benzer/bin/benzer", "serve"]
    return {
        "unit": shlex.split(unit()["Service"]["ExecStart"])[2:],
        "Dockerfile": [*begin[2:], *instruction("CMD")],
        "compose": [*begin[2:], *compose()["services"]["benzer"]["command"]],
    }


@pytest.mark.parametrize("name", ["unit", "Dockerfile", "compose"])
def test_the_command_line_of_each_file_is_one_that_serve_takes(name: str) -> None:
    given = command.make_context("serve", list(lines()[name]), resilient_parsing=False).params
    assert given["log_format"] == "json"
    assert given["home"]
    assert given["keys"] or given["host"] == "127.0.0.1"


@pytest.mark.parametrize("name", ["unit", "compose"])
def test_the_process_has_more_time_to_end_than_it_takes(name: str) -> None:
    with command.make_context("serve", list(lines()[name])) as context:
        grace = context.params["grace_seconds"]
    left = (
        unit()["Service"]["TimeoutStopSec"]
        if name == "unit"
        else compose()["services"]["benzer"]["stop_grace_period"]
    )
    assert grace + 2 < int(left.removesuffix("s"))


def test_the_container_runs_without_root_and_waits_for_a_lasting_redis() -> None:
    services = compose()["services"]
    assert "USER benzer" in (DEPLOY / "Dockerfile").read_text()
    assert services["benzer"]["depends_on"]["redis"]["condition"] == "service_healthy"
    assert services["redis"]["command"][1:5] == ["--appendonly", "yes", "--appendfsync", "always"]
    assert all(port.startswith("127.0.0.1:") for port in services["benzer"]["ports"])


def test_base_images_can_be_pinned_by_digest() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    defaults = dict(re.findall(r"^ARG (\w+)=(.+)$", text, re.M))
    assert re.findall(r"^FROM (\S+)", text, re.M) == [f"${{{name}}}" for name in defaults]
    passed = compose()["services"]["benzer"]["build"]["args"]
    assert passed == {name: f"${{{name}:-{image}}}" for name, image in defaults.items()}


def test_keys_are_not_copied_into_the_image_and_not_committed() -> None:
    assert "deploy/keys" in (ROOT / ".dockerignore").read_text().splitlines()
    assert "/deploy/keys/" in (ROOT / ".gitignore").read_text().splitlines()


def test_the_page_names_each_limit_with_its_default() -> None:
    told = dict(re.findall(r"^\| `(--[a-z-]+)` \| ([\d,]+)(?: MB)? \|", PAGE, re.M))
    wanted = {one.option: getattr(Limits(), one.field) / one.factor for one in LIMITS}
    assert {option: float(value.replace(",", "")) for option, value in told.items()} == wanted


def test_the_page_names_each_error_of_a_limit_as_it_is() -> None:
    code = "".join(path.read_text() for path in (ROOT / "python/benzer/service").rglob("*.py"))
    named = set(re.findall(r"`([A-Z]\w+Error)`", PAGE))
    assert len(named) == 10
    assert [name for name in named if f'"{name}"' not in code] == []


def test_no_option_of_the_command_is_without_help() -> None:
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert [one.name for one in options if not one.help] == []
