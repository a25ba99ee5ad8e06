"""The service does what /openapi.json says for requests that are made from it at random, right ones and wrong ones.

A few hundred requests with a fixed seed; `BENZER_SCHEMATHESIS=5000` makes at least so many.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from benzer import Index, IndexSettings
from tests.doors.service import ROOT, serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER

CASES = int(os.environ.get("BENZER_SCHEMATHESIS", "300"))
OPERATIONS = 41


def test_every_check_passes_for_requests_made_from_the_description(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with Index.open(tmp_path / "demo.benzer", IndexSettings(threshold=0.5, passages=True)) as index:
        index.add({"fox": {"text": FOX}, "fox/again": {"text": FOX_AGAIN}, "other": {"text": OTHER}})
    with serving(tmp_path / "demo.benzer", "--home", tmp_path / "home", "--max-results", "100000") as (
        client,
        _,
    ):
        job = client.post("/v1/duplicates", json={"index": "demo"}).json()["id"]
        # The phase "coverage" makes thousands of requests, for each limit of each value.
        phases = "examples,fuzzing" if CASES < 3000 else "examples,coverage,fuzzing,stateful"
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", "tests/doors/schemathesis.toml"),
            *(
                "run",
                str(client.base_url.join("/openapi.json")),
                "--checks",
                "all",
                "--mode",
                "all",
                "--seed",
                "1",
            ),
            # It takes the 404 for a document that a body names, or for another job, for one about what was just made.
            *("--exclude-checks", "ensure_resource_availability"),
            *("--phases", phases, "--max-examples", str(-(-CASES // OPERATIONS))),
        ]
        environment = {**os.environ, "BENZER_JOB": job, "PYTHONPATH": os.pathsep.join(["python", "."])}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    generated = re.search(r"([\d,]+) generated", done.stdout)
    assert generated is not None, done.stdout
    assert int(generated[1].replace(",", "")) >= CASES
