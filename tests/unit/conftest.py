# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Factories of tiny libraries, wheels, loaders and interpreters."""

import functools
import importlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.wheel.plugin import generate_modules
from small_libraries import build_elf, build_fat, build_macho, build_pe
from small_wheels import build_wheel


@pytest.fixture(scope="session")
def make_elf() -> Callable[..., bytes]:
    """Return the factory of libraries; see `build_elf`."""
    return build_elf


@pytest.fixture(scope="session")
def make_macho() -> Callable[..., bytes]:
    """Return the factory of libraries of macOS; see `build_macho`."""
    return build_macho


@pytest.fixture(scope="session")
def make_fat() -> Callable[..., bytes]:
    """Return the factory of fat libraries of macOS; see `build_fat`."""
    return build_fat


@pytest.fixture(scope="session")
def make_pe() -> Callable[..., bytes]:
    """Return the factory of libraries of Windows; see `build_pe`."""
    return build_pe


@pytest.fixture
def make_wheel(tmp_path: Path) -> Callable[..., Path]:
    """Return the factory of wheels; see `build_wheel`."""

    def make(files: Mapping[str, bytes], *, name: str = "demo-1.0-py3-none-any.whl", record: str | None = None) -> Path:
        directory = tmp_path / "wheels"
        directory.mkdir(exist_ok=True)
        return build_wheel(directory, files, name=name, record=record)

    return make


def lay_out_loader(root: Path, backend: Backend, site: Path, copy: Callable[[str, str], object]) -> Path:
    """Put the Python modules of a backend's wheel into a folder, and return their package.

    Args:
        root: Root of the repository.
        backend: The backend.
        site: The folder.
        copy: Puts one file in its place.
    """
    package = site / backend.package
    shutil.copytree(root / "plugins" / backend.name / backend.package, package, copy_function=copy)
    for part in ("pjrt", *backend.shared):
        shutil.copytree(root / "plugins" / part / "loader", package / part, copy_function=copy)
    for name, text in generate_modules(backend).items():
        (package / name).write_text(text, "utf-8")
    return package


@pytest.fixture(scope="session")
def put_loader(root: Path) -> Callable[[str, Path], Path]:
    """Return a function: backend, folder → a package there with copies of its wheel's modules, free to change."""
    backends = load_backends(root)
    return lambda name, site: lay_out_loader(root, backends[name], site, shutil.copyfile)


@pytest.fixture(scope="session")
def load_module(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], ModuleType]]:
    """Return a function: backend, module of its package → that module, laid out as in the wheel, without libraries."""
    site = tmp_path_factory.mktemp("site")
    backends = load_backends(root)

    def load(name: str, module: str) -> ModuleType:
        package = backends[name].package
        if not (site / package).exists():
            lay_out_loader(root, backends[name], site, os.symlink)  # coverage sees the sources
            importlib.invalidate_caches()
        return importlib.import_module(f"{package}.{module}" if module else package)

    # Remedies are pip's where there is a pip, which environments of uv's have not.
    pip = tmp_path_factory.mktemp("pip")
    (pip / "pip").mkdir()
    (pip / "pip/__init__.py").touch()
    sys.path[:] = [str(site), *sys.path, str(pip)]
    yield load
    sys.path[:] = [entry for entry in sys.path if entry not in (str(site), str(pip))]


@pytest.fixture(scope="session")
def cpu_loader(load_module: Callable[[str, str], ModuleType]) -> Callable[[str], ModuleType]:
    """Return a function: a module's name → that module of `jaxlib_cpu`."""
    return functools.partial(load_module, "cpu")


@pytest.fixture
def make_python(tmp_path: Path) -> Callable[..., Path]:
    """Return a function: a version → a program that describes itself as the interpreter of an empty environment."""

    def make(version: tuple[int, int, int] = (3, 12, 1), platform: tuple[str, str] = ("linux", "x86_64")) -> Path:
        python = tmp_path / "python"
        environment = json.dumps([str(python), version, [], str(tmp_path), platform])
        python.write_text(f"#!/bin/sh\necho '{environment}'\n", "utf-8")
        python.chmod(0o755)
        return python

    return make
