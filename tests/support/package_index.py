# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A small package index: a folder of wheels that pip looks into, or a server that notes what it was asked for."""

import functools
import http.server
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pjrtwheel.environment.processes import clean_environ
from small_wheels import build_wheel, describe_wheel

COMMIT = "dc4af684446e65ee98eee8090e1ff6f8211473fb"


def make_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder that is the machine's only package index."""
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put_wheel(
    index: Path,
    filename: str,
    *,
    requires: Sequence[str] = (),
    commit: str = COMMIT,
    members: Mapping[str, bytes] | None = None,
) -> None:
    """Put a wheel on the index, one of JAX's projects that was built from a commit."""
    version_file = {f"{filename.partition('-')[0]}/version.py": f"_git_hash: str = '{commit}'\n".encode()}
    build_wheel(index, {**describe_wheel(filename, requires), **version_file, **(members or {})}, name=filename)


def run_installer(
    *command: str | Path, folder: Path | None = None, fails: bool = False, variables: Mapping[str, str] | None = None
) -> str:
    """Run an installer that knows no index but those named; return all it printed.

    Args:
        command: The installer and its arguments.
        folder: Where it runs.
        fails: Whether it must fail.
        variables: Further environment variables.
    """
    environ = clean_environ(PIP_CONFIG_FILE=os.devnull, PIP_NO_CACHE_DIR="1", UV_NO_CONFIG="1", UV_NO_CACHE="1")
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        environ.pop(name, None)
    result = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        env={**environ, **(variables or {})},
        cwd=folder,
    )
    assert (result.returncode != 0) == fails, result.stdout + result.stderr
    return result.stdout + result.stderr


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """What `python -m http.server` does, without its log."""

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


class NotingHandler(QuietHandler):
    """The same with a list of what was asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Note the request, then serve it."""
        self.asked.append(self.path)
        super().do_GET()


@contextmanager
def serve(handler: Callable[..., http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer requests on loopback, and return the address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:  # or a test that fails would keep its process from ending
            server.shutdown()
            thread.join()


def serve_folder(
    folder: Path, handler: type[http.server.SimpleHTTPRequestHandler] = QuietHandler
) -> AbstractContextManager[str]:
    """Serve a folder on loopback, and return the address."""
    return serve(functools.partial(handler, directory=str(folder)))
