# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A relay on loopback that stops in the middle: what is behind it gets so many bytes, and no more."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_CHUNK = 1 << 16


@dataclass(slots=True)
class Relay:
    """A relay that runs.

    Attributes:
        target: The port on loopback that it forwards to.
        limit: How many bytes of its clients it forwards.
        port: Its own port.
        passed: How many it has forwarded.
        reached: Set once they are all of the limit; from then on clients wait.
    """

    target: int
    limit: int
    port: int = 0
    passed: int = 0
    reached: threading.Event = field(default_factory=threading.Event)

    def forward(self, source: socket.socket, sink: socket.socket) -> None:
        """Forward what a client sends, as far as the limit, until it is gone."""
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                allowed = data[: self.limit - self.passed]
                sink.sendall(allowed)
                self.passed += len(allowed)
                if self.passed == self.limit:
                    self.reached.set()
        _close(sink)

    def answer(self, source: socket.socket, sink: socket.socket) -> None:
        """Forward what the server answers."""
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                sink.sendall(data)
        _close(sink)


@contextmanager
def run_relay(target: int, limit: int) -> Iterator[Relay]:
    """Run a relay, and end it."""
    relay = Relay(target, limit)

    class Handler(socketserver.BaseRequestHandler):
        """One connection."""

        def handle(self) -> None:
            """Forward in both directions."""
            with socket.create_connection(("127.0.0.1", relay.target)) as server:
                back = threading.Thread(target=relay.answer, args=(server, self.request))
                back.start()
                relay.forward(self.request, server)
                back.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as listener:
        relay.port = listener.server_address[1]
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield relay
        finally:
            listener.shutdown()
            thread.join()


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
