# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A copy of the interpreter that runs on its own."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pjrtwheel.bazel.copy_runtime import EXTENSIONS, copy_runtime
from pjrtwheel.bazel.repositories import list_sources

# What every action does first, and what the slow built-in hashes would cost.
PROGRAM = """
import concurrent.futures, csv, decimal, email, hashlib, json, socket, subprocess, sys, tempfile, tomllib, zipfile, zlib
import xml.etree.ElementTree, pyexpat
with open("/proc/self/maps") as lines:
    mapped = {line.split()[-1] for line in lines if ".so" in line}
modules = {module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)}
print(json.dumps({"mapped": sorted(mapped), "modules": sorted(modules), "path": sys.path, "prefix": sys.prefix,
                  "hash": type(hashlib.sha256()).__module__}))
"""
OPTIONS = ("-P", "-s", "-B", "-c")
C_LIBRARY = ("ld-", "libc.", "libm.", "libdl.", "librt.", "libutil.", "libpthread.")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the interpreter that runs the tests, moved after it was made."""
    folder = tmp_path_factory.mktemp("runtime")
    copy_runtime(folder / "made")
    return (folder / "made").rename(folder / "moved")


def test_a_copy_runs_without_the_original(runtime: Path) -> None:
    """All modules and libraries are its own but for the C library, with an empty environment and relative paths."""
    command, environ = ["moved/bin/python", *OPTIONS, PROGRAM], {"LD_LIBRARY_PATH": "moved/lib"}
    found = json.loads(subprocess.check_output(command, cwd=runtime.parent, env=environ))
    assert found["prefix"] == str(runtime)
    assert found["hash"] == "_hashlib"
    used = {*found["modules"], *found["path"], *(name for name in found["mapped"] if not is_c_library(name))}
    assert {name for name in used if not name.startswith(f"{runtime}/")} == set()


def test_a_copy_has_what_the_tools_import(runtime: Path, root: Path) -> None:
    """Every module that assembly and compilation may need, with the packages that are installed for them."""
    modules = [
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for paths in list_sources(root / "build").values()
        for path in paths
        if not path.endswith("__main__.py")
    ]
    packages = sysconfig.get_path("purelib")
    environ = {"LD_LIBRARY_PATH": str(runtime / "lib"), "PYTHONPATH": f"{root / 'build'}:{packages}"}
    subprocess.check_call([runtime / "bin/python", *OPTIONS, f"import {', '.join(modules)}"], env=environ)


def is_c_library(path: str) -> bool:
    """Return whether a file belongs to the C library, which each machine has."""
    return Path(path).name.startswith(C_LIBRARY)


def test_nothing_of_the_place_of_the_original_is_added(runtime: Path) -> None:
    """Compiled modules, installed packages and what a machine adds hold paths, and are left out."""
    names = {path.name for path in runtime.rglob("*")}
    assert names.isdisjoint({"site-packages", "dist-packages", "__pycache__", "sitecustomize.py", "test", "idlelib"})
    suffixes = {path.suffix for path in runtime.rglob("*") if path.is_file() and "lib-dynload" not in path.parts}
    assert ".pyc" not in suffixes
    assert {path.name.split(".")[0] for path in runtime.glob("lib/*/lib-dynload/*")} <= set(EXTENSIONS)
    assert not [path for path in runtime.rglob("*") if path.is_symlink()]
    assert f"python{sys.version_info[0]}.{sys.version_info[1]}" in names
