"""A connection that breaks now and then: before a message arrives, or after, when the answer is lost."""

from __future__ import annotations

import random
import socket
import threading
from contextlib import suppress


class CuttingProxy:
    """Passes bytes on to `port`, and cuts the connection at about `share` of the messages."""

    def __init__(self, port: int, share: float, seed: int) -> None:
        self._target, self._share, self._chance = port, share, random.Random(seed)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.cuts = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                if self._chance.random() < self._share:
                    self.cuts += 1
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.close()
