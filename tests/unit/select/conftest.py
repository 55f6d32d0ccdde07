# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The releases of JAX that these tests know: one that lacks nothing, and those that a test makes of it."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select import facts as facts_package
from jaxlib_select import tables
from jaxlib_select.cli import main
from jaxlib_select.facts import Backend, known_releases, load_facts
from jaxlib_select.machine.file import to_json
from jaxlib_select.machine.model import Machine
from select_commands import Said, Select, WriteMachine
from site_packages import Site

SHIPPED = facts_package.FOLDER
# An invented release: what these tests expect of it does not change with the next real one. Its wheels have a label.
RELEASE = "1.2.3"
VERSION = f"{RELEASE}+split.1"
# The facts of the newest release of which every backend has a wheel: what newer ones lack is no matter of these tests.
WHOLE = next(
    facts
    for facts in map(load_facts, reversed(known_releases()))
    if not any(backend.absent for backend in facts.backends if not backend.tags)
)


def write_facts(folder: Path, release: str, version: str, backends: Iterable[Backend] = WHOLE.backends) -> None:
    """Write facts about an invented release, of which each backend has one version."""
    renamed = tuple(replace(backend, version=version) for backend in backends)
    facts = replace(WHOLE, release=release, backends=renamed, requires_python=">=3.11")  # as this program itself
    document: dict[str, Any] = tables.write(facts)
    (folder / f"{release}.json").write_text(json.dumps(document), "utf-8")


@pytest.fixture(scope="session")
def release() -> str:
    """Return the one release that is known unless a test adds others."""
    return RELEASE


@pytest.fixture(scope="session")
def shipped_release() -> str:
    """Return a real release, for tests that start the program: that knows what it is shipped with."""
    return WHOLE.release


@pytest.fixture(scope="session")
def shared_facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the facts of that release, and of nothing else."""
    folder = tmp_path_factory.mktemp("facts")
    shutil.copy(SHIPPED / "torch.json", folder)
    write_facts(folder, RELEASE, VERSION)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _one_release(shared_facts: Path) -> Iterator[None]:
    """Let that release be the newest, whatever was built since."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts_package, "FOLDER", shared_facts)
        yield


@pytest.fixture
def add_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function: release, and what it lacks (`oneapi="no file"`) → its facts, from now on with no others."""
    folder = tmp_path / "facts"
    folder.mkdir()
    shutil.copy(SHIPPED / "torch.json", folder)
    monkeypatch.setattr(facts_package, "FOLDER", folder)

    def lose(backend: Backend, cause: str) -> Backend:
        return replace(backend, tags={}, code={}, sources={}, absent=dict.fromkeys(backend.tags, cause))

    def add(release: str, **lacking: str) -> None:
        backends = [lose(entry, lacking[entry.name]) if entry.name in lacking else entry for entry in WHOLE.backends]
        write_facts(folder, release, release, backends)
        facts_package._read_once.cache_clear()

    return add


@pytest.fixture
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's variables and this repository's pyproject.toml out of a test."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("JAXLIB_SELECT_", "UV_TORCH_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def select(capsys: pytest.CaptureFixture[str]) -> Select:
    """Return a function: runs a command of `jaxlib-select` in this process."""
    return lambda *words: Said(main([str(word) for word in words]), *capsys.readouterr())


@pytest.fixture
def write_machine(tmp_path: Path) -> WriteMachine:
    """Return a function: writes a machine file, and returns its path."""

    def write(machine: Machine) -> str:
        path = tmp_path / "machine.json"
        path.write_text(json.dumps(to_json(machine)), "utf-8")
        return str(path)

    return write


@pytest.fixture
def site(tmp_path: Path, shared_facts: Path) -> Site:
    """Return an empty environment."""
    return Site(tmp_path, load_facts(folder=shared_facts))
