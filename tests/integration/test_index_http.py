# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The static index over HTTP on loopback, with the real pip and the real uv, from a plain server and a choosing one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from folders import installed_in, site_packages_of
from package_index import NotingHandler, run_installer, serve_folder
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv
from pjrtwheel.installs.stage import open_stage
from pjrtwheel.installs.tries import install_command
from pjrtwheel.products.index import write_index, write_pages
from pjrtwheel.products.index.projects import list_projects, read_release
from release_entries import write_small_wheel

pytestmark = [pytest.mark.integration, pytest.mark.slow]

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
def address(request: pytest.FixtureRequest, dist: Path) -> Iterator[str]:
    """Return the address of the index of `dist` on a running server."""
    write_index(dist, dist / "simple")
    NotingHandler.asked.clear()
    with serve_folder(dist / "simple", request.param) as address:
        yield address


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three small wheels: one needs another, and the newest of that is for no Python yet."""
    folder = tmp_path_factory.mktemp("dist")
    entries = [
        write_small_wheel(folder / "jaxlib_abacus-1.0-py3-none-any.whl", ["jaxlib-bead>=2"]),
        write_small_wheel(folder / "jaxlib_bead-2.0-py3-none-any.whl"),
        write_small_wheel(folder / "jaxlib_bead-3.0-py3-none-any.whl", python=">=4"),
    ]
    (folder / "release.json").write_text(json.dumps({"schema": 2, "wheels": entries}))
    return folder


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installers_take_what_they_need_from_the_index(
    installer: str, address: str, interpreter: Interpreter, tmp_path: Path
) -> None:
    """Metadata comes before the wheels, hashes are checked, and Requires-Python is respected."""
    python = create_venv(interpreter, tmp_path / "venv")
    run_installer(*install_command(installer, open_stage(address), python, ["jaxlib-abacus"]))
    assert installed_in(site_packages_of(python)) == {"jaxlib-abacus": "1.0", "jaxlib-bead": "2.0"}
    asked = NotingHandler.asked
    first = asked.index("/jaxlib-abacus/jaxlib_abacus-1.0-py3-none-any.whl.metadata")
    assert first < asked.index("/jaxlib-abacus/jaxlib_abacus-1.0-py3-none-any.whl")


@pytest.mark.parametrize("choosing", [NotingHandler, ChoosingHandler], ids=["plain", "choosing"])
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installers_follow_absolute_links_and_read_withdrawals(
    installer: str, choosing: type[NotingHandler], interpreter: Interpreter, tmp_path: Path
) -> None:
    """Wheels lie below a tag with a plus at one server, pages at another; a withdrawn wheel is taken if pinned only."""
    folder = tmp_path / "files" / "v1.0+split.1"
    folder.mkdir(parents=True)
    names = [f"jaxlib_abacus-{version}+split.1-py3-none-any.whl" for version in ("1.0", "1.1")]
    entries = [write_small_wheel(folder / name) for name in names]
    (folder / "release.json").write_text(json.dumps({"schema": 2, "wheels": entries}))
    with (
        serve_folder(tmp_path / "files", NotingHandler) as files,
        serve_folder(tmp_path / "simple", choosing) as address,
    ):
        listed = read_release(folder, {names[1]: "crashes"}, url=f"{files}{quote(folder.name)}")
        write_pages(list_projects(listed, "the index"), (), tmp_path / "simple")
        for file in listed:
            (folder / f"{file.filename}.metadata").write_bytes(file.metadata)
        NotingHandler.asked.clear()
        for wanted, expected in (("jaxlib-abacus", "1.0"), ("jaxlib-abacus==1.1+split.1", "1.1")):
            python = create_venv(interpreter, tmp_path / expected)
            command = install_command(installer, open_stage(address), python, [wanted])
            command.remove("--quiet")  # with it uv does not say why a wheel was withdrawn
            said = run_installer(*command)
            assert installed_in(site_packages_of(python)) == {"jaxlib-abacus": f"{expected}+split.1"}
            assert ("crashes" in said) == (expected == "1.1")
    asked = [path for path in NotingHandler.asked if "split" in path]
    wheels = [f"/{quote(folder.name)}/{quote(name)}" for name in names]
    assert asked == [f"{wheel}{suffix}" for wheel in wheels for suffix in (".metadata", "")]
