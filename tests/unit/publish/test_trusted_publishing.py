# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Uploads without a password: the identity of a workflow is exchanged for a token (trusted publishing), by twine.

Twine does so for the public index alone; its address is set to that of a stand-in on loopback. What the stand-in
answers is written from twine's own code, not from the index.
"""

from __future__ import annotations

import base64
import datetime as dt
import http.server
import ipaddress
import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import twine.utils
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from release_folders import WHEELS, write_release_folder
from upload_server import PASSWORD, UploadServer, run_server

AUDIENCE, REQUEST_TOKEN = "index", "of-the-job"


def write_certificate(path: Path) -> Path:
    """Write a certificate for loopback that signs itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(key.private_bytes(*plain) + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def make_identity(audience: str) -> str:
    """Return a token of an identity, which nobody signed."""
    parts = (b'{"alg": "none"}', json.dumps({"aud": audience}).encode(), b"")
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


class _Identities(http.server.BaseHTTPRequestHandler):
    """What GitHub answers a job that may ask who it is."""

    def log_message(self, *_: Any) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        """Give a token for the audience that is asked for."""
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        known = self.headers["Authorization"] == f"bearer {REQUEST_TOKEN}"
        self.send_response(200 if known else 401)
        self.end_headers()
        self.wfile.write(json.dumps({"value": make_identity(asked["audience"][0])}).encode() if known else b"")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UploadServer]:
    """Return an index over TLS that twine takes for the public one."""
    certificate = write_certificate(tmp_path / "server.pem")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with run_server(certificate) as state:
        state.audience = AUDIENCE
        monkeypatch.setattr(twine.utils, "DEFAULT_REPOSITORY", f"{state.url}upload/")
        yield state


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch, command: object) -> Iterator[None]:  # noqa: ARG001 - which clears variables
    """Be a job of GitHub that may ask who it is, with secrets that are not set."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Identities) as identities:
        thread = threading.Thread(target=identities.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        url = f"http://127.0.0.1:{identities.server_port}/token?api-version=2.0"
        for name, value in {
            "TWINE_USERNAME": "",
            "TWINE_PASSWORD": "",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "GITHUB_ACTIONS": "true",
            "ACTIONS_ID_TOKEN_REQUEST_URL": url,
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": REQUEST_TOKEN,
        }.items():
            monkeypatch.setenv(name, value)
        yield
        identities.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a release."""
    return write_release_folder(tmp_path / "release").path


@pytest.mark.usefixtures("job")
def test_a_job_uploads_with_its_identity(publish: Callable[..., Any], server: UploadServer, folder: Path) -> None:
    """No password is set anywhere, and the token that is given in exchange is printed nowhere."""
    printed = publish(folder)
    assert (printed.status, printed.err) == (0, "")
    assert server.files == {name: (folder / name).read_bytes() for name in server.uploads}
    assert set(server.files) == set(WHEELS)
    assert set(server.identities) == {make_identity(AUDIENCE)}
    signed = f"Authorization: Basic {base64.b64encode(f'__token__:{PASSWORD}'.encode()).decode()}"
    assert [signed in text for text in server.requests if text.startswith("/upload/")] == [True] * len(WHEELS)


@pytest.mark.usefixtures("job")
def test_a_dry_run_asks_for_no_token(publish: Callable[..., Any], server: UploadServer, folder: Path) -> None:
    """It uploads nothing."""
    assert (publish(folder, "--dry-run").status, server.identities) == (0, [])


@pytest.mark.usefixtures("job")
def test_an_identity_that_is_not_taken_sends_nothing(
    publish: Callable[..., Any], server: UploadServer, folder: Path
) -> None:
    """The index says why."""
    server.refused = "no publisher has this workflow"
    printed = publish(folder)
    assert (printed.status, server.uploads) == (11, [])
    assert printed.lines[0] == "company cannot be uploaded to"
    assert "no publisher has this workflow" in printed.lines[1]


@pytest.mark.usefixtures("job")
def test_an_answer_that_is_none_of_a_token_is_explained(
    publish: Callable[..., Any], server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of an index behind a portal, or a job without the permission."""
    monkeypatch.setattr("upload_server._Handler._mint", lambda self, _: self._answer(200, b'{"success": true}'))
    printed = publish(folder)
    assert (printed.status, server.uploads) == (11, [])
    assert printed.lines[0] == "company gave no token for uploads"
    monkeypatch.delenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    printed = publish(folder)
    assert (printed.status, server.uploads) == (11, [])
    assert "ACTIONS_ID_TOKEN_REQUEST_TOKEN" in printed.lines[1]
