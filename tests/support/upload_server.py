# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An index on loopback that takes uploads and lists them, and that can be made to fail in every way."""

import email.parser
import email.policy
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from packaging.utils import canonicalize_name

from package_index import serve

USERNAME, PASSWORD = "releaser", "s3cr3t-of-the-tests"
_JSON = "application/vnd.pypi.simple.v1+json"


class Fault(StrEnum):
    """How one file is treated; the numbers are answers to its upload."""

    FORBIDDEN = "403"
    CONFLICT = "409"
    TOO_LARGE = "413"
    BROKEN = "500"
    ELSEWHERE = "302"
    SLOW = "slow"  # no answer to the upload
    CUT = "cut"  # half of the upload is read, then the connection ends
    LOST_ANSWER = "lost answer"  # all of it is kept, then the connection ends
    ALTERED = "altered"  # other bytes are kept under the digest of those that came
    HIDDEN = "hidden"  # it is kept and never listed
    CUT_DOWNLOAD = "cut download"  # half of the file is sent back
    LYING_DIGEST = "lying digest"  # the digest in the list is not that of the file


@dataclass(slots=True)
class UploadServer:
    """What the index has, and how it behaves.

    Attributes:
        url: Its address; uploads go to `upload/`, `simple/` lists files.
        files_url: The address that the list has for files, if it is another one.
        files: Name → bytes, in the order in which they came.
        faults: Name → what goes wrong with it.
        times: How often it does; without end if negative.
        digests: Whether the list has a sha256 for each file.
        yanked: Name → reason.
        text: What is sent in place of every page, if it is anything.
        uploads: Names, for each request that began to send one.
        attestations: Name → what came with it (PEP 740).
        downloads: Names, for each request of a file.
        requests: All headers and addresses that came.
    """

    url: str = ""
    files_url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    times: int = -1
    digests: bool = True
    yanked: dict[str, str] = field(default_factory=dict)
    text: bytes = b""
    uploads: list[str] = field(default_factory=list)
    attestations: dict[str, Any] = field(default_factory=dict)
    downloads: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def take_fault(self, name: str, *kinds: Fault) -> Fault | None:
        """Return what goes wrong now with a file, if it is one of these kinds."""
        fault = self.faults.get(name)
        if fault not in kinds or self.times == 0:
            return None
        self.times -= 1
        return fault

    def page(self, project: str) -> Mapping[str, Any] | None:
        """Return the JSON page of a project, or nothing for an unknown one."""
        names = [name for name in self.files if canonicalize_name(name.partition("-")[0]) == project]
        listed = [name for name in names if self.faults.get(name) != Fault.HIDDEN]
        return (
            {"meta": {"api-version": "1.1"}, "name": project, "files": list(map(self._entry, listed))}
            if names
            else None
        )

    def _entry(self, name: str) -> Mapping[str, Any]:
        data = self.files[name]
        digest = "0" * 64 if self.faults.get(name) == Fault.LYING_DIGEST else hashlib.sha256(data).hexdigest()
        if self.faults.get(name) == Fault.ALTERED:
            digest = hashlib.sha256(data[:-1]).hexdigest()
        entry: dict[str, Any] = {
            "filename": name,
            "url": f"{self.files_url or self.url}files/{name}",
            "size": len(data),
        }
        entry["hashes"] = {"sha256": digest} if self.digests else {}
        return {**entry, "yanked": self.yanked[name]} if name in self.yanked else entry


class _Handler(http.server.BaseHTTPRequestHandler):
    """The requests."""

    state: UploadServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        """List a project, or send a file."""
        self.state.requests.append(f"{self.path} {self.headers}")
        kind, _, name = self.path.strip("/").partition("/")
        page = self.state.page(name) if kind == "simple" else None
        if self.state.text:
            self._answer(200, self.state.text, _JSON)
        elif page is not None:
            self._answer(200, json.dumps(page).encode(), _JSON)
        elif kind == "files" and name in self.state.files:
            self._send_file(name)
        else:
            self._answer(404)

    def do_POST(self) -> None:
        """Take a file, or fail."""
        self.state.requests.append(f"{self.path} {self.headers}")
        length = int(self.headers["Content-Length"])
        head = self.rfile.read(length // 2)
        name = head.partition(b'filename="')[2].partition(b'"')[0].decode()
        self.state.uploads.append(name)
        if self.state.take_fault(name, Fault.CUT):
            self.close_connection = True
            return
        body = head + self.rfile.read(length - len(head))
        self._answer_upload(name, body)

    def _answer_upload(self, name: str, body: bytes) -> None:
        answers = (Fault.FORBIDDEN, Fault.CONFLICT, Fault.TOO_LARGE, Fault.BROKEN, Fault.ELSEWHERE)
        if fault := self.state.take_fault(name, *answers):
            self._answer(int(fault), b"no", "text/plain")
        elif self.state.take_fault(name, Fault.SLOW):
            self.state.released.wait(60)
            self.close_connection = True
        else:
            form = self._parse(body)
            content = form["content"]
            assert hashlib.sha256(content).hexdigest() == form["sha256_digest"].decode()
            if "attestations" in form:
                self.state.attestations[name] = json.loads(form["attestations"])
            altered = self.state.take_fault(name, Fault.ALTERED)
            self.state.files[name] = content + b"!" if altered else content
            if self.state.take_fault(name, Fault.LOST_ANSWER):
                self.close_connection = True
            else:
                self._answer(200)

    def _parse(self, body: bytes) -> dict[str, bytes]:
        """Return the fields of a form; of those that come several times, the last."""
        header = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(header + body)
        parts = [part for part in form.walk() if not part.is_multipart()]
        return {
            str(part.get_param("name", header="content-disposition")): bytes(part.get_payload(decode=True))
            for part in parts
        }

    def _send_file(self, name: str) -> None:
        self.state.downloads.append(name)
        data = self.state.files[name]
        if self.state.take_fault(name, Fault.CUT_DOWNLOAD):
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        else:
            self._answer(200, data)

    def _answer(self, status: int, body: bytes = b"", kind: str = "application/octet-stream") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", "/elsewhere/")
        self.end_headers()
        with suppress(ConnectionError):  # a client may have seen enough
            self.wfile.write(body)


@contextmanager
def run_server() -> Iterator[UploadServer]:
    """Run an empty index, and end it."""
    state = UploadServer()
    with serve(type("Handler", (_Handler,), {"state": state})) as state.url:
        try:
            yield state
        finally:
            state.released.set()
