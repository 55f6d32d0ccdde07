# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A remote cache of Bazel's over HTTP, which can be made to fail in every way that a real one does.

The protocol: GET and PUT of /ac/<sha256> (results of actions) and /cas/<sha256> (files).
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class HttpCache:
    """A running cache.

    Attributes:
        folder: Where it keeps everything, as `ac/<sha256>` and `cas/<sha256>`.
        port: Where it listens, on loopback.
        answers: What it answered, as method, kind and status, such as `GET ac 200`.
        headers: The headers of all requests, for tests of credentials.
        fault: What it does instead of its work: nothing, `full` (refuses to store), `frozen` (never answers),
            `gone` (closes the connection), or `other` (is another server, which knows neither path).
        fault_after: After how many requests the fault begins.
    """

    folder: Path
    port: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    headers: list[dict[str, str]] = field(default_factory=list)
    fault: str = ""
    fault_after: int = 0
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """Return the address for `--remote_cache`."""
        return f"http://127.0.0.1:{self.port}"

    def break_down(self, fault: str, after: int = 0) -> None:
        """Let a fault begin after some more requests."""
        self.fault, self.fault_after = fault, after

    def forget(self, kind: str = "*") -> None:
        """Evict everything, or what is of one kind."""
        for path in self.folder.glob(f"{kind}/*"):
            path.unlink()

    def corrupt(self) -> None:
        """Change a byte in every file; the results of actions are left as they are."""
        for path in self.folder.glob("cas/*"):
            data = path.read_bytes()
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]) if data else data)


@contextmanager
def run_http_cache(
    folder: Path, certificate: tuple[Path, Path] | None = None, *, clients: Path | None = None
) -> Iterator[HttpCache]:
    """Run a cache on loopback; it ends with everything that waits for it.

    It speaks TLS with a certificate and its key, to those alone who show one that an authority of `clients` signed.
    """
    cache = HttpCache(folder)
    for kind in ("ac", "cas"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"cache": cache}))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        if clients:
            context.load_verify_locations(clients)
            context.verify_mode = ssl.CERT_REQUIRED
        server.socket = context.wrap_socket(server.socket, server_side=True)
    cache.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield cache
    finally:
        cache.released.set()
        server.shutdown()
        server.server_close()


@contextmanager
def accept_nothing() -> Iterator[int]:
    """Listen on a port without ever answering, as a stopped process does, and yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


class _Server(ThreadingHTTPServer):
    """A server that says nothing of clients that go away."""

    daemon_threads = True

    def handle_error(self, *_arguments: Any) -> None:
        """Be silent."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    cache: HttpCache
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments: Any) -> None:
        """Be silent."""

    def do_GET(self) -> None:
        """Return what is there."""
        if self._breaks_down():
            return
        path = self._place()
        data = path.read_bytes() if path and path.is_file() else None
        self._answer(HTTPStatus.OK if data is not None else HTTPStatus.NOT_FOUND, data or b"")

    def do_PUT(self) -> None:
        """Keep what comes."""
        if self._breaks_down():
            return
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        path = self._place()
        if path is None:
            self._answer(HTTPStatus.NOT_FOUND)
            return
        scratch = path.with_suffix(f".{threading.get_ident()}")
        scratch.write_bytes(data)
        scratch.replace(path)
        self._answer(HTTPStatus.OK)

    def _place(self) -> Path | None:
        kind, _, name = self.path.lstrip("/").partition("/")
        known = kind in {"ac", "cas"} and name.isalnum()
        return self.cache.folder / kind / name if known else None

    def _breaks_down(self) -> bool:
        self.cache.headers.append(dict(self.headers))
        if self.cache.fault_after > 0:
            self.cache.fault_after -= 1
            return False
        match self.cache.fault:
            case "full" if self.command == "PUT":
                self._drain()
                self._answer(HTTPStatus.INSUFFICIENT_STORAGE)
            case "other":
                self._drain()
                self._answer(HTTPStatus.BAD_REQUEST)
            case "gone":
                self.close_connection = True
                with suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)
            case "frozen":
                self.cache.released.wait()
                self.close_connection = True
            case _:
                return False
        return True

    def _drain(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def _answer(self, status: HTTPStatus, data: bytes = b"") -> None:
        kind = self.path.lstrip("/").partition("/")[0]
        self.cache.answers[f"{self.command} {kind} {status.value}"] += 1
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
