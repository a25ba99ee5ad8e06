"""A service as tests ask it: `benzer serve` as a process of its own, and its answers read strictly."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import httpx

from benzer.service.errors import ErrorAnswer
from tests.doors.nursery import Forked

ROOT = Path(__file__).resolve().parents[2]
JSON = {"Content-Type": "application/json"}


def started(arguments: list[str]) -> subprocess.Popen[str]:
    """`benzer serve` as a user starts it, with the environment and the limits of this process."""
    begin = [sys.executable, "-W", "error", "-m", "benzer", "serve", "--port", "0"]
    return subprocess.Popen([*begin, *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True)


@contextmanager
def serving(
    *arguments: str | os.PathLike[str], end: int = signal.SIGTERM, forked: bool = True
) -> Iterator[tuple[httpx.Client, subprocess.Popen[str] | Forked]]:
    """`benzer serve` as a process of its own on a free port, and a client of it; it ends by a signal."""
    with (Forked if forked else started)([os.fspath(one) for one in arguments]) as process:
        assert process.stderr is not None
        try:
            said = ""
            while (address := re.search(r"http://[^\s/]+:\d+", said)) is None:
                line = process.stderr.readline()
                assert line, said
                said += line
            with httpx.Client(base_url=address[0], timeout=120, trust_env=False) as client:
                yield client, process
            process.send_signal(end)
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()


def refused(response: httpx.Response, status: int) -> str:
    """The message of an error, which has the one shape that errors have."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return ErrorAnswer.model_validate(response.json(), extra="forbid").error.message


def curl(client: httpx.Client, line: str, folder: Path = ROOT) -> httpx.Response:
    """What the curl of a page's example would be answered; files are those of `folder`."""
    words = shlex.split(line.replace("\\\n", " "))
    values = [
        (option, value) for option, value in pairwise(words) if re.fullmatch("-[HXdFT]|--data-binary", option)
    ]
    (url,) = [word.removeprefix("http://127.0.0.1:8000") for word in words if word.startswith("http:")]
    headers = dict(value.split(": ", 1) for option, value in values if option == "-H")
    content = next((value for option, value in values if option in ("-d", "--data-binary")), None)
    file = next((value for option, value in values if option == "-T"), None)
    body = (folder / file).read_bytes() if file else content
    if isinstance(body, str) and body.startswith("@"):
        body = (folder / body[1:]).read_bytes()
    method = next((value for option, value in values if option == "-X"), None)
    method = method or ("PUT" if file else "GET" if body is None else "POST")
    parts = [value.split("=", 1) for option, value in values if option == "-F"]
    if not parts:
        return client.request(method, url, headers=headers, content=body)
    files = {
        name: (Path(value[1:]).name, (folder / value[1:]).read_bytes())
        if value.startswith("@")
        else (None, value)
        for name, value in parts
    }
    return client.request("PUT" if method == "PUT" else "POST", url, headers=headers, files=files)
