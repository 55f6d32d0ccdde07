# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A remote cache of Bazel's over HTTP, which can be made to fail.

The protocol: GET and PUT of /ac/<sha256> (results of actions) and /cas/<sha256> (files).
"""

import socket
import threading
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
        headers: The headers of all requests, for tests of credentials.
        fault: What it does instead of its work: nothing, or `gone` (closes the connection).
        fault_after: After how many requests the fault begins.
    """

    folder: Path
    port: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)
    fault: str = ""
    fault_after: int = 0

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


@contextmanager
def run_http_cache(folder: Path) -> Iterator[HttpCache]:
    """Run a cache on loopback; it ends with everything that waits for it."""
    cache = HttpCache(folder)
    for kind in ("ac", "cas"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"cache": cache}))
    cache.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield cache
    finally:
        server.shutdown()
        server.server_close()


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
        if self.cache.fault != "gone":
            return False
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        return True

    def _answer(self, status: HTTPStatus, data: bytes = b"") -> None:
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
