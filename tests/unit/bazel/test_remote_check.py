# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Servers that answer, and servers that do not."""

from __future__ import annotations

import datetime as dt
import ipaddress
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from http_cache import accept_nothing, run_http_cache
from pjrtwheel.bazel.remote import Remote
from pjrtwheel.bazel.remote_check import ServerWatch, find_silent_server

SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
PATIENCE = 0.2


def remote(*servers: str, certificate: Path | None = None) -> Remote:
    """Return settings with some servers."""
    return Remote(Path("farm.bazelrc"), servers=servers, certificate=certificate)


def make_certificate(folder: Path, address: str = "127.0.0.1") -> tuple[Path, Path]:
    """Write a certificate that signs itself, and its key, and return their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cache")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*plain))
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return folder / "certificate.pem", folder / "key.pem"


@contextmanager
def speak_http2() -> Iterator[int]:
    """Answer one client as a gRPC server does at first, and yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                if client.recv(1024).startswith(b"PRI * HTTP/2.0"):
                    client.sendall(SETTINGS)

        thread = threading.Thread(target=answer)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def test_servers_that_answer(tmp_path: Path) -> None:
    """A cache that knows nothing has answered; what has no server to ask is left to Bazel."""
    with run_http_cache(tmp_path) as cache, speak_http2() as port:
        assert find_silent_server(remote(cache.url, f"grpc://127.0.0.1:{port}", "unix:/run/a"), 5.0) == ""
    assert cache.answers == {"GET ac 404": 1}
    assert find_silent_server(Remote(Path("a"), servers=(cache.url,), is_direct=False)) == ""


def test_servers_that_do_not_answer(tmp_path: Path) -> None:
    """One is not there, one is stopped, one closes every connection."""
    with run_http_cache(tmp_path) as cache:
        gone = cache.port
        cache.break_down("gone")
        said = find_silent_server(remote(cache.url), 5.0)
        assert said == f"127.0.0.1:{cache.port}: it closed the connection without an answer"
    assert find_silent_server(remote(f"grpc://127.0.0.1:{gone}")) == f"127.0.0.1:{gone}: connection refused"
    with accept_nothing() as port:
        for scheme in ("grpc", "http", "grpcs"):
            said = find_silent_server(remote(f"{scheme}://127.0.0.1:{port}"), PATIENCE)
            assert said == f"127.0.0.1:{port}: no answer within 0.2 s"


def test_a_name_that_is_none() -> None:
    """Python refuses to encode it, before it asks for an address."""
    assert find_silent_server(remote("grpc://a..b:1")) == "a..b is not the name of a host"


def test_a_server_that_knows_its_clients(tmp_path: Path) -> None:
    """The certificate of the settings is shown to it."""
    pair = make_certificate(tmp_path)
    with run_http_cache(tmp_path / "cache", pair, clients=pair[0]) as cache:
        settings = remote(f"https://127.0.0.1:{cache.port}", certificate=pair[0])
        assert find_silent_server(settings, 5.0).startswith(f"127.0.0.1:{cache.port}: ")
        assert find_silent_server(replace(settings, client=pair), 5.0) == ""


def test_certificates(tmp_path: Path) -> None:
    """One of an authority that the settings name must be of it; without one Bazel's own list decides, later."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    pair, (other, _) = make_certificate(tmp_path / "one"), make_certificate(tmp_path / "other")
    with run_http_cache(tmp_path / "cache", pair) as cache:
        url = f"https://127.0.0.1:{cache.port}"
        assert find_silent_server(remote(url, certificate=pair[0]), 5.0) == ""
        assert find_silent_server(remote(url), 5.0) == ""
        refused = find_silent_server(remote(url, certificate=other), 5.0)
        assert refused.startswith(f"127.0.0.1:{cache.port}: its certificate is not accepted (")


SLEEP = "import signal, time; signal.signal(signal.SIGINT, lambda *_: exit(8)); print(flush=True); time.sleep(60)"


@pytest.mark.parametrize("frozen", [True, False], ids=["frozen", "answers"])
def test_a_server_that_freezes_ends_the_wait(tmp_path: Path, *, frozen: bool) -> None:
    """Bazel is interrupted, and what is wrong is known; a server that answers leaves it alone."""
    command = [sys.executable, "-c", SLEEP]
    with (
        run_http_cache(tmp_path) as cache,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        watch = ServerWatch(remote(cache.url), patience=PATIENCE, interval=0.01)
        if frozen:
            cache.break_down("frozen")
        with watch.during(process):
            if not frozen:
                while cache.answers["GET ac 404"] < 3:
                    pass
                process.send_signal(signal.SIGTERM)
            process.wait()
    assert process.returncode == (8 if frozen else -signal.SIGTERM)
    assert watch.problem == (f"127.0.0.1:{cache.port}: no answer within 0.2 s" if frozen else "")
