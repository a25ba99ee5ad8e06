"""The log of the service takes lines from wherever they come, a signal's handler included."""

from __future__ import annotations

import io
import signal

from benzer.service.telemetry.logs import Log


def test_a_signal_that_falls_into_a_line_may_write_another() -> None:
    stream = io.StringIO()
    told = 0

    def handler(number: int, frame: object) -> None:
        nonlocal told
        told += 1
        log.write("info", "signal")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with Log("text", stream=stream) as log:
            signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
            written = 0
            while told < 200:
                log.write("info", "line")
                written += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    lines = stream.getvalue().splitlines()
    assert any(" signal" in line for line in lines)
    assert len(lines) <= written + told + 200  # and those that say how many were dropped
