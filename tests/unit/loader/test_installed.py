# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which Pythons a plugin's loader refuses, and in which words."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Loader = Callable[[str], ModuleType]

OWN = "_pjrt.cpython-314t-x86_64-linux-gnu.so"
# What CPython 3.14t and 3.15t import, by the order of their suffixes.
SUFFIXES = {
    "3.14": [".cpython-314t-x86_64-linux-gnu.so", ".abi3.so", ".so"],
    "3.15": [".cpython-315t-x86_64-linux-gnu.so", ".abi3t.so", ".so"],
}


@pytest.fixture
def pose(cpu_loader: Loader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Return a function: flags of a Python, its version, files of the extension → the loader sees these."""

    def pose_(abiflags: str, version: str, *files: str) -> None:
        for file in files:
            (tmp_path / file).touch()
        monkeypatch.setattr(cpu_loader("pjrt.installed"), "__file__", str(tmp_path / "installed.py"))
        monkeypatch.setattr(sys, "abiflags", abiflags)
        monkeypatch.setattr(sys, "version_info", (3, int(version.removeprefix("3.")), 0, "final", 0))
        monkeypatch.setattr(importlib.machinery, "EXTENSION_SUFFIXES", SUFFIXES[version])

    return pose_


@pytest.mark.parametrize("abiflags", ["", "d"])
def test_a_python_with_the_gil_is_accepted(cpu_loader: Loader, pose: Callable[..., None], abiflags: str) -> None:
    """Debug builds have the same ABI since CPython 3.8."""
    pose(abiflags, "3.14", "_pjrt.abi3.so")
    cpu_loader("pjrt.installed").check_interpreter("jaxlib-cpu")


@pytest.mark.parametrize(
    ("version", "files", "file"),
    [
        ("3.14", ("_pjrt.abi3.so", "_pjrt.abi3t.so", OWN), OWN),
        ("3.15", ("_pjrt.abi3.so", "_pjrt.abi3t.so", OWN), "_pjrt.abi3t.so"),
        ("3.14", (), None),
        ("3.15", ("_pjrt.abi3.so",), None),
    ],
    ids=["its own", "stable ABI", "nothing", "nothing it would import"],
)
def test_a_free_threaded_python_is_accepted(
    cpu_loader: Loader, pose: Callable[..., None], version: str, files: tuple[str, ...], file: str | None
) -> None:
    """One that would import its own file, or none: that is another error."""
    pose("t", version, *files)
    found = cpu_loader("pjrt.installed").find_extension()
    assert (found.name if found else None) == file
    cpu_loader("pjrt.installed").check_interpreter("jaxlib-cpu")


@pytest.mark.parametrize("abiflags", ["t", "td"])
def test_a_free_threaded_python_without_a_file_of_its_own_is_refused(
    cpu_loader: Loader, pose: Callable[..., None], tmp_path: Path, abiflags: str
) -> None:
    """It would import the file for Pythons with the GIL; no pip command helps, so nothing else is compared or said."""
    pose(abiflags, "3.14", "_pjrt.abi3.so", "_pjrt.abi3t.so")
    with pytest.raises(cpu_loader("pjrt.errors").InterpreterError) as caught:
        cpu_loader("pjrt.lock").check_release("jaxlib-cpu", tmp_path / "absent", None)
    assert (f"3.14{abiflags}" in caught.value.what, "_pjrt.abi3.so" in caught.value.cause) == (True, True)
    report = cpu_loader("pjrt.examine").examine_plugin(cpu_loader("").PLUGIN, 0, opening=True)
    assert [str(problem) for problem in report.problems].count(str(caught.value)) == 1
    assert report.verdict().endswith(caught.value.remedy)


@pytest.mark.parametrize(
    ("package", "command"), [("pip", "pip uninstall jax-a jax-b"), ("unpip", "uv pip uninstall jax-a jax-b")]
)
def test_a_remedy_changes_this_environment(
    cpu_loader: Loader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, command: str
) -> None:
    """Without a pip of its own, as uv makes them, a shell would run the pip of another environment."""
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    loader = cpu_loader("pjrt.installed")
    monkeypatch.delitem(sys.modules, "pip", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert loader.pip_command("uninstall jax-a jax-b") == command
