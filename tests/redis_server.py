"""Redis servers for the tests: real ones, on free ports of this machine, stopped when the tests are done."""

from __future__ import annotations

import atexit
import shutil
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

import redis


class RedisServer:
    """A redis-server process of its own, with its files in `folder`; `url` is where it answers."""

    def __init__(self, folder: Path, *settings: str) -> None:
        program = shutil.which("redis-server")
        assert program, "these tests need redis-server: apt-get install redis-server"
        self.folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = [
            program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder),
            "--save", "", "--logfile", str(folder / "log"), "--enable-debug-command", "yes", *settings,
        ]  # fmt: skip
        self.start()

    def start(self) -> None:
        """Start the process, again after `kill`, and wait until it answers."""
        self.process = subprocess.Popen(self._command)
        client = self.client()
        deadline = time.monotonic() + 120
        while True:
            try:
                client.ping()
                break
            except redis.ConnectionError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.01)
        client.close()

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port)

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    """A port of the loopback that nobody uses now, nor the one beside it that a cluster's bus would take."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _lasting(*settings: str) -> RedisServer:
    folder = Path(tempfile.mkdtemp(prefix="benzer-redis-"))
    server = RedisServer(folder, *settings)

    def stop() -> None:
        server.kill()
        shutil.rmtree(folder)

    atexit.register(stop)
    return server


@cache
def shared_server() -> RedisServer:
    """The server that most tests share, each under prefixes of its own."""
    return _lasting()


@cache
def shared_cluster() -> RedisServer:
    """A cluster of one server, which has all slots."""
    server = _lasting("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    client = server.client()
    client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
    deadline = time.monotonic() + 120
    while client.execute_command("CLUSTER INFO")["cluster_state"] != "ok":
        assert time.monotonic() < deadline, "the cluster does not come up"
        time.sleep(0.01)
    client.close()
    return server
