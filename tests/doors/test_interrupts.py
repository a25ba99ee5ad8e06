"""Ctrl-C ends native work of every kind, in the middle of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.doors.interrupt_child import STAGES

MOST_SECONDS = 30.0
"""A look comes every 50 ms, and the work looks up each few milliseconds: this bears a machine that is a hundred times
as slow, and is far from the minutes that the work takes."""


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_ends_native_work(stage: str, tmp_path: Path) -> None:
    child = [sys.executable, "-m", "tests.doors.interrupt_child", stage, str(tmp_path / "big.jsonl")]
    with subprocess.Popen(child, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "ready\n"
            time.sleep(0.3)  # it works by now; were it not to, it would be stopped all the same
            running.send_signal(signal.SIGINT)
            since = time.monotonic()
            assert running.communicate(timeout=60)[0] == "stopped\n"
            assert time.monotonic() - since < MOST_SECONDS
        finally:
            running.kill()
    assert running.returncode == 0
