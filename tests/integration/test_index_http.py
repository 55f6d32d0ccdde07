# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The static index over HTTP on loopback, with the real pip and the real uv, from a plain server and a choosing one."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pjrtwheel.index import write_index
from pjrtwheel.prove import environment
from pjrtwheel.prove.interpreters import Interpreter

pytestmark = pytest.mark.integration

JSON_TYPE = "application/vnd.pypi.simple.v1+json"


class PlainHandler(http.server.SimpleHTTPRequestHandler):
    """What `python -m http.server` does, with a list of what was asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Note the request, then serve it."""
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


class ChoosingHandler(PlainHandler):
    """A server that hands out JSON to those who accept it."""

    def send_head(self) -> Any:
        """Serve the JSON page of a folder where it is wanted."""
        if self.path.endswith("/") and JSON_TYPE in self.headers.get("Accept", ""):
            self.path += "index.v1+json"
        return super().send_head()

    def guess_type(self, path: Any) -> str:
        """Name the type of the JSON pages."""
        return JSON_TYPE if str(path).endswith(".v1+json") else super().guess_type(path)


@pytest.fixture(params=[PlainHandler, ChoosingHandler], ids=["plain", "choosing"])
def address(request: pytest.FixtureRequest, dist: Path) -> Iterator[str]:
    """Return the address of the index of `dist` on a running server."""
    write_index(dist, dist / "simple")
    request.param.asked.clear()
    handler = partial(request.param, directory=str(dist / "simple"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two small wheels, one of which needs the other and one that no Python can use."""
    folder = tmp_path_factory.mktemp("dist")
    wheels: tuple[tuple[str, str, list[str], str], ...] = (
        ("jaxlib_abacus", "1.0", ["jaxlib-bead>=2"], ">=3.12"),
        ("jaxlib_bead", "2.0", [], ">=3.12"),
        ("jaxlib_bead", "3.0", [], ">=4"),
    )
    entries = []
    for project, version, requires, python in wheels:
        path = folder / f"{project}-{version}-py3-none-any.whl"
        write_wheel(path, project, version, requires, python)
        entries.append(
            {
                "filename": path.name,
                "distribution": project.replace("_", "-"),
                "version": version,
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                "size": path.stat().st_size,
                "tags": ["py3-none-any"],
                "lock_id": "ff",
                "pjrt_api": None,
                "gpu_code": [],
                "proof": {"level": "static", "pythons": [], "targets": []},
                "stripped_bytes": 0,
            }
        )
    (folder / "release.json").write_text(json.dumps({"schema": 1, "wheels": entries}))
    return folder


def write_wheel(path: Path, project: str, version: str, requires: Sequence[str], python: str) -> None:
    """Write a wheel with one module."""
    info = f"{project}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
    text = f"Metadata-Version: 2.4\nName: {project}\nVersion: {version}\nRequires-Python: {python}\n{needs}"
    tags = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{project}.py", "")
        archive.writestr(f"{info}/METADATA", text)
        archive.writestr(f"{info}/WHEEL", tags)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (*archive.namelist(), f"{info}/RECORD")))


def run(*command: str | Path) -> str:
    """Run an installer that knows no other index."""
    environ = environment.clean_environ(PIP_CONFIG_FILE=os.devnull, UV_NO_CONFIG="1", UV_NO_CACHE="1")
    environ = {name: value for name, value in environ.items() if name not in {"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"}}
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, env=environ)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def installed(python: Path) -> list[str]:
    """Return what is installed in an environment."""
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    return sorted(path.name for path in site.glob("*.dist-info"))


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installers_take_what_they_need_from_the_index(
    installer: str, address: str, interpreter: Interpreter, tmp_path: Path
) -> None:
    """Metadata comes before the wheels, hashes are checked, and Requires-Python is heeded."""
    python = environment.create_venv(interpreter, tmp_path / "venv")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-input", "--no-cache-dir")
    uv = (environment.find_uv() or "uv", "pip", "install", "--python", python)
    run(*(pip if installer == "pip" else uv), "--index-url", address, "jaxlib-abacus")
    assert installed(python) == ["jaxlib_abacus-1.0.dist-info", "jaxlib_bead-2.0.dist-info"]
    asked = PlainHandler.asked
    first = asked.index("/jaxlib-abacus/jaxlib_abacus-1.0-py3-none-any.whl.metadata")
    assert first < asked.index("/jaxlib-abacus/jaxlib_abacus-1.0-py3-none-any.whl")
