# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask whether the servers of remote settings answer, before Bazel waits for them in every action."""

from __future__ import annotations

import contextlib
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from pjrtwheel.bazel.remote import Remote

PATIENCE_S = 10.0
INTERVAL_S = 15.0
# One interrupt lets Bazel end its actions; three of them end its server, which may wait for another one.
_INTERRUPTS = 3
# A client of HTTP/2 begins with a fixed text and empty SETTINGS; the server answers with its own (RFC 9113, 3.4).
_HTTP2_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_PORTS = {"http": 80, "grpc": 80, "https": 443, "grpcs": 443}


def find_silent_server(remote: Remote, patience: float = PATIENCE_S) -> str:
    """Return what is wrong with the first server that does not answer, in a few words; nothing if all do.

    Only that it answers is of interest: no credentials are sent, and an answer that refuses is one.
    """
    if not remote.is_direct:
        return ""
    for address in remote.servers:
        # Without a scheme Bazel speaks gRPC over TLS.
        parts = urlsplit(address if "://" in address or address.startswith("unix:") else f"grpcs://{address}")
        if parts.scheme not in _PORTS or not parts.hostname:
            continue  # Bazel itself says what it thinks of it
        try:
            _ask(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme], remote, patience)
        except UnicodeError:  # Python encodes host names, before it looks for them
            return f"{parts.hostname} is not the name of a host"
        except OSError as error:
            return f"{parts.hostname}:{parts.port or _PORTS[parts.scheme]}: {_reason(error, patience)}"
    return ""


class ServerWatch:
    """Asks servers again and again while a Bazel runs, and interrupts it when one does not answer twice in a row.

    Some versions of Bazel wait for such a server for ever.

    Attributes:
        problem: What is wrong with that server; empty as long as all answer.
    """

    __slots__ = ("_ended", "_interval", "_patience", "_remote", "problem")

    def __init__(self, remote: Remote | None, patience: float = PATIENCE_S, interval: float = INTERVAL_S) -> None:
        """Watch the servers of some settings, or nothing."""
        self._remote, self._patience, self._interval = remote, patience, interval
        self._ended = threading.Event()
        self.problem = ""

    @contextlib.contextmanager
    def during(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """Watch while the block runs."""
        thread = threading.Thread(target=self._watch, args=(process,), daemon=True)
        if self._remote:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            if self._remote:
                thread.join()

    def _watch(self, process: subprocess.Popen[str]) -> None:
        while not self.problem and not self._ended.wait(self._interval):
            if self._remote and find_silent_server(self._remote, self._patience):
                self.problem = find_silent_server(self._remote, self._patience)
        for _ in range(_INTERRUPTS):
            if self._ended.is_set():
                return
            process.send_signal(signal.SIGINT)
            self._ended.wait(self._patience)


def _ask(scheme: str, host: str, port: int, remote: Remote, patience: float) -> None:
    """Raise an `OSError` unless a server answers in its protocol within the time."""
    with socket.create_connection((host, port), timeout=patience) as plain:
        is_grpc = scheme.startswith("grpc")
        connection = plain
        if scheme.endswith("s"):
            connection = _tls_context(remote, is_grpc=is_grpc).wrap_socket(plain, server_hostname=host)
        with connection:
            hello = f"GET /ac/{'0' * 64} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
            connection.sendall(_HTTP2_HELLO if is_grpc else hello)
            if not connection.recv(1):
                raise ConnectionResetError("it closed the connection without an answer")


def _tls_context(remote: Remote, *, is_grpc: bool) -> ssl.SSLContext:
    """Return how to speak TLS: verified if the settings name an authority, else left to Bazel, which has its own."""
    context = ssl.create_default_context(cafile=str(remote.certificate) if remote.certificate else None)
    if remote.client:
        context.load_cert_chain(*remote.client, password="")  # a locked key is an error, and not a question
    if remote.certificate is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"] if is_grpc else ["http/1.1"])
    return context


def _reason(error: OSError, patience: float) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted ({error.verify_message})"
    if isinstance(error, TimeoutError):
        return f"no answer within {patience:g} s"
    return (error.strerror or str(error)).lower()
