# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The static index over HTTP on loopback, with the real pip and the real uv, from a plain server and a choosing one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from folders import site_packages_of
from package_index import NotingHandler, run_installer
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv, find_uv
from pjrtwheel.products.index import write_index

pytestmark = pytest.mark.integration

JSON_TYPE = "application/vnd.pypi.simple.v1+json"


class ChoosingHandler(NotingHandler):
    """A server that hands out JSON to those who accept it."""

    def send_head(self) -> Any:
        """Serve the JSON page of a folder where it is wanted."""
        if self.path.endswith("/") and JSON_TYPE in self.headers.get("Accept", ""):
            self.path += "index.v1+json"
        return super().send_head()

    def guess_type(self, path: Any) -> str:
        """Name the type of the JSON pages."""
        return JSON_TYPE if str(path).endswith(".v1+json") else super().guess_type(path)


@pytest.fixture(params=[NotingHandler, ChoosingHandler], ids=["plain", "choosing"])
def address(
    request: pytest.FixtureRequest, dist: Path, serve: Callable[..., AbstractContextManager[str]]
) -> Iterator[str]:
    """Return the address of the index of `dist` on a running server."""
    write_index(dist, dist / "simple")
    NotingHandler.asked.clear()
    with serve(dist / "simple", request.param) as address:
        yield address


@pytest.fixture(scope="session")
def dist(list_wheel: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three small wheels: one needs another, and the newest of that is for no Python yet."""
    folder = tmp_path_factory.mktemp("dist")
    entries = [
        list_wheel(folder / "jaxlib_abacus-1.0-py3-none-any.whl", ["jaxlib-bead>=2"]),
        list_wheel(folder / "jaxlib_bead-2.0-py3-none-any.whl"),
        list_wheel(folder / "jaxlib_bead-3.0-py3-none-any.whl", python=">=4"),
    ]
    (folder / "release.json").write_text(json.dumps({"schema": 2, "wheels": entries}))
    return folder


def installed(python: Path) -> list[str]:
    """Return what is installed in an environment."""
    site = site_packages_of(python)
    return sorted(path.name for path in site.glob("*.dist-info"))


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installers_take_what_they_need_from_the_index(
    installer: str, address: str, interpreter: Interpreter, tmp_path: Path
) -> None:
    """Metadata comes before the wheels, hashes are checked, and Requires-Python is respected."""
    python = create_venv(interpreter, tmp_path / "venv")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-input")
    uv = (find_uv() or "uv", "pip", "install", "--python", python)
    run_installer(*(pip if installer == "pip" else uv), "--index-url", address, "jaxlib-abacus")
    assert installed(python) == ["jaxlib_abacus-1.0.dist-info", "jaxlib_bead-2.0.dist-info"]
    asked = NotingHandler.asked
    first = asked.index("/jaxlib-abacus/jaxlib_abacus-1.0-py3-none-any.whl.metadata")
    assert first < asked.index("/jaxlib-abacus/jaxlib_abacus-1.0-py3-none-any.whl")
