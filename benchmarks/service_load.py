"""A separate process that sends queries to a service, one after the other, over raw sockets.

`python -m benchmarks.service_load PORT PATH QUESTIONS` sends the lines of a file as bodies of POST requests and
prints one line of JSON. With `--rate`, queries are sent at a fixed rate, and the time of each is measured from its
scheduled time: a late response also delays the next ones, and is not excluded from the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import numpy as np
import uvloop

END_SECONDS = 60.0


class Client(asyncio.Protocol):
    """One connection with one query at a time."""

    def __init__(self, done: Callable[[Client, int], None]) -> None:
        self.done, self.buffer, self.due = done, b"", 0.0
        self.transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def ask(self, request: bytes, due: float) -> None:
        self.due = due
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, ended, body = self.buffer.partition(b"\r\n\r\n")
        if not ended:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0] or b"0")
        if len(body) >= length:
            self.buffer = b""
            self.done(self, int(head[9:12]))

    def connection_lost(self, error: Exception | None) -> None:
        self.done(self, 0)


class Load:
    """Some connections, their queries, and the time of each response."""

    def __init__(self, requests: list[bytes], seconds: float, rate: float | None) -> None:
        self.requests, self.rate = cycle(requests), rate
        self.seconds: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.free: deque[Client] = deque()
        self.waiting: deque[float] = deque()  # when questions were due for which no connection was free
        self.start = time.perf_counter()
        self.end = self.start + seconds
        self.under_way = 0

    def done(self, client: Client, status: int) -> None:
        now = time.perf_counter()
        if status == 0:
            self.statuses[0] += self.under_way > 0
            return
        self.under_way -= 1
        self.statuses[status] += 1
        self.seconds.append(now - client.due)
        if self.waiting:
            self.send(client, self.waiting.popleft())
        elif self.rate is None and now < self.end:
            self.send(client, now)
        else:
            self.free.append(client)

    def send(self, client: Client, due: float) -> None:
        self.under_way += 1
        client.ask(next(self.requests), due)

    async def run(self) -> None:
        if self.rate is None:
            while self.free:
                self.send(self.free.popleft(), time.perf_counter())
            await asyncio.sleep(self.end - time.perf_counter())
        else:
            for number in range(int((self.end - self.start) * self.rate)):
                due = self.start + number / self.rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                if self.free:
                    self.send(self.free.popleft(), due)
                else:
                    self.waiting.append(due)
        last = time.perf_counter() + END_SECONDS
        while (self.under_way or self.waiting) and time.perf_counter() < last:
            await asyncio.sleep(0.005)

    def told(self) -> dict[str, object]:
        """Figures of the responses, in milliseconds."""
        passed = time.perf_counter() - self.start
        spent = np.array(self.seconds or [float("nan")]) * 1000
        p50, p90, p99, p999 = np.percentile(spent, [50, 90, 99, 99.9]).tolist()
        return {
            "answers": len(self.seconds), "per_second": len(self.seconds) / passed, "p50_ms": p50, "p90_ms": p90,
            "p99_ms": p99, "p999_ms": p999, "max_ms": float(spent.max()), "unanswered": self.under_way,
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
        }  # fmt: skip


async def ask(port: int, requests: list[bytes], connections: int, seconds: float, rate: float | None) -> Load:
    load = Load(requests, seconds, rate)
    loop = asyncio.get_running_loop()
    for _ in range(connections):
        _, client = await loop.create_connection(lambda: Client(load.done), "127.0.0.1", port)
        load.free.append(client)
    load.start = time.perf_counter()
    load.end = load.start + seconds
    await load.run()
    return load


def request_of(path: str, body: bytes, key: str | None) -> bytes:
    sent = f"Authorization: Bearer {key}\r\n" if key else ""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{sent}Content-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("port", type=int)
    parser.add_argument("path")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float, help="questions a second; without it as fast as answers come")
    parser.add_argument("--key", help="an API key")
    given = parser.parse_args()
    requests = [request_of(given.path, line, given.key) for line in given.questions.read_bytes().splitlines()]
    uvloop.install()
    load = asyncio.run(ask(given.port, requests, given.connections, given.seconds, given.rate))
    print(json.dumps(load.told()))


if __name__ == "__main__":
    main()
