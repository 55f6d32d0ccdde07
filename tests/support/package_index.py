# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A small package index: a folder of wheels that pip looks into, or a server that notes what it was asked for."""

from __future__ import annotations

import http.server
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

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
