# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The Python modules of our plugins, laid out as in their wheels."""

import functools
import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pjrtwheel.wheel.plugin import generate_modules
from release_under_test import BACKENDS, ROOT


def put_loader(name: str, site: Path, copy: Callable[[str, str], object] = shutil.copyfile) -> Path:
    """Put the modules of a backend's wheel into a folder, and return their package.

    Args:
        name: The backend.
        site: The folder.
        copy: Puts one file in its place; copies are free to change.
    """
    backend = BACKENDS[name]
    package = site / backend.package
    shutil.copytree(ROOT / "plugins" / name / backend.package, package, copy_function=copy)
    for part in ("pjrt", *backend.shared):
        shutil.copytree(ROOT / "plugins" / part / "loader", package / part, copy_function=copy)
    chips = {"targets": ROOT / "plugins" / name, **{part: ROOT / "plugins" / part for part in backend.shared}}
    for part, folder in chips.items():
        if (folder / "targets").is_dir():
            shutil.copytree(folder / "targets", package / part, copy_function=copy, dirs_exist_ok=True)
    for module, text in generate_modules(backend, "prebuilt").items():
        (package / module).write_text(text, "utf-8")
    return package


@functools.cache
def _provide_site() -> tempfile.TemporaryDirectory[str]:
    """Return a folder on the path of this process, which is removed at its end."""
    folder = tempfile.TemporaryDirectory()
    site, last = Path(folder.name) / "site", Path(folder.name) / "last"
    (last / "pip").mkdir(parents=True)
    (last / "pip/__init__.py").touch()  # remedies are pip's where there is a pip, which environments of uv's have not
    sys.path[:] = [str(site), *sys.path, str(last)]
    return folder


def load_module(name: str, module: str) -> ModuleType:
    """Return a module of a backend's package, without libraries."""
    site, package = Path(_provide_site().name) / "site", BACKENDS[name].package
    if not (site / package).exists():
        put_loader(name, site, os.symlink)  # coverage sees the sources
        importlib.invalidate_caches()
    return importlib.import_module(f"{package}.{module}" if module else package)


def load_toolkit(name: str) -> Any:
    """Return the CUDA that a backend's wheel is for."""
    toolkit = load_module(name, "cuda.toolkit")
    return toolkit.read_toolkit(load_module(name, "backend").PLUGIN.package)


load_cpu = functools.partial(load_module, "cpu")
