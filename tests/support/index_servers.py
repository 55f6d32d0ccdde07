# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Real package indexes on loopback: devpi-server, and simple-repository-server in front of it."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from pjrtwheel.environment.venv import find_uv
from pjrtwheel.fetch.cache import file_lock
from programs import free_port

USERNAME, PASSWORD = "releaser", "loopback-only"
_GROUP = "index_servers"
_START_S = 60.0


@dataclass(frozen=True, slots=True)
class Index:
    """One index of a server: the address that files are uploaded to, and that of its simple repository API."""

    upload_url: str
    index_url: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `publish`."""
        return ("--upload-url", self.upload_url, "--index-url", self.index_url)


@dataclass(frozen=True, slots=True)
class Devpi:
    """A server that runs."""

    url: str

    def add_index(self, name: str) -> Index:
        """Make an index in which a file is never replaced by another one."""
        url = f"{self.url}{USERNAME}/{name}/"
        _put(url.removesuffix("/"), {"bases": [], "volatile": False}, auth=(USERNAME, PASSWORD))
        return Index(url, f"{url}+simple/")


def install_servers(root: Path, cache: Path, servers: str = _GROUP) -> Path:
    """Return the folder with the programs of a dependency group, installed into the cache on first use."""
    lock = root / "build" / "locks" / f"{servers}.txt"
    name = hashlib.sha256(sys.version.encode() + lock.read_bytes()).hexdigest()[:16]
    place = cache / "tools" / f"{servers}-{name}"
    with file_lock(cache / "locks" / place.name):
        if not (place / "installed").is_file():
            uv = str(find_uv())
            subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(place)], check=True)
            python = str(place / "bin" / "python")
            install = [uv, "pip", "install", "--quiet", "--python", python, "--require-hashes", "--only-binary=:all:"]
            subprocess.run([*install, "--requirement", str(lock)], check=True)
            (place / "installed").touch()
    return place / "bin"


@contextmanager
def run_devpi(programs: Path, folder: Path) -> Iterator[Devpi]:
    """Run a new devpi-server with one user, and end it."""
    init = [str(programs / "devpi-init"), "--serverdir", str(folder), "--root-passwd", PASSWORD, "--no-root-pypi"]
    subprocess.run(init, check=True, capture_output=True)
    port = free_port()
    command = [str(programs / "devpi-server"), "--serverdir", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    url = f"http://127.0.0.1:{port}/"
    with _running(command, f"{url}+api", folder.with_suffix(".log")):
        _put(f"{url}{USERNAME}", {"password": PASSWORD})
        yield Devpi(url)


@contextmanager
def run_simple_repository_server(programs: Path, index: Index, log: Path) -> Iterator[str]:
    """Run a server that adds metadata (PEP 658) to what another index has; the address of its simple repository API."""
    port = free_port()
    command = [str(programs / "simple-repository-server"), "--host", "127.0.0.1", "--port", str(port), index.index_url]
    url = f"http://127.0.0.1:{port}/simple/"
    with _running(command, url, log):
        yield url


@contextmanager
def _running(command: Sequence[str], url: str, log: Path) -> Iterator[None]:
    """Run a server until it answers and as long as it is needed, and end it by its process id."""
    environ = {**os.environ, "PYTHONWARNINGS": "ignore"}
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output, env=environ) as process:
        try:
            _wait(process, url, log)
            yield
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + _START_S
    while True:
        try:
            requests.get(url, timeout=5)
        except requests.ConnectionError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        else:
            return


def _put(url: str, document: dict[str, Any], auth: tuple[str, str] | None = None) -> None:
    requests.put(url, json=document, auth=auth, timeout=30).raise_for_status()
