# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-select` and the loaders on macOS and Windows, as far as Python on Linux can pretend to be there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Modules of the standard library that Windows has not.
POSIX_ONLY = ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")

# Where Linux has its devices, and what starts programs or opens libraries.
LINUX = ("/dev", "/proc", "/sys")
PROGRAMS = ("ctypes.dlopen", "subprocess.Popen", "os.posix_spawn")

MACHINES: dict[str, dict[str, object]] = {
    "macos": {"os": "darwin", "arch": "arm64"},
    "windows": {"os": "windows", "arch": "x86_64"},
}
# What the standard library says of each system, put into its place before anything of ours is imported; then a
# command, and what it looked at on the way.
PRETEND = """
import json, os, sys
system, machine, command = sys.argv[1], sys.argv[2], sys.argv[3:]
for name in {posix_only!r}:
    if name not in ("posix", "pwd"):  # the standard library of Linux needs these itself
        sys.modules[name] = None
sys.platform = system
if system == "win32":
    del os.uname, os.confstr
    os.environ["PROCESSOR_ARCHITECTURE"] = machine
else:
    os.uname = lambda: os.uname_result(("Darwin", "mac", "24.6.0", "Darwin Kernel", machine))
    os.confstr = lambda name: (_ for _ in ()).throw(ValueError("unrecognized configuration name"))
from jaxlib_select.cli import main
seen = []
def note(event, arguments):
    if event in ("open", "os.listdir", "os.scandir", "ctypes.dlopen", "subprocess.Popen", "os.posix_spawn"):
        seen.append([event, str(arguments[0])])
sys.addaudithook(note)
status = main(command)
print(json.dumps({{"status": status, "seen": seen}}), file=sys.stderr)
"""


def run_as(root: Path, system: str, machine: str, *command: str) -> tuple[dict[str, Any], list[list[str]]]:
    """Run a command on a system that is none; return what it printed as JSON, and what it looked at."""
    environ = {"PYTHONPATH": str(root / "selector"), "PATH": os.defpath, "PYTHONUTF8": "1"}
    code = PRETEND.format(posix_only=POSIX_ONLY)
    result = subprocess.run(
        [sys.executable, "-c", code, system, machine, *command],
        capture_output=True,
        text=True,
        check=False,
        env=environ,
    )
    assert result.returncode == 0, result.stderr
    *talk, last = result.stderr.splitlines()
    assert not [line for line in talk if "Traceback" in line]
    shown = json.loads(last)
    assert shown["status"] == 0
    return json.loads(result.stdout), shown["seen"]


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("package", ["jax", "jaxlib"])
def test_a_machine_without_our_accelerators_gets_jax_alone(root: Path, tmp_path: Path, name: str, package: str) -> None:
    """It has an XLA for the CPU in `jaxlib` itself, and the answer says why there is nothing else."""
    (tmp_path / "machine.json").write_text(json.dumps(MACHINES[name]), "utf-8")
    command = ("resolve", package, "--machine", str(tmp_path / "machine.json"), "--json")
    answer, _ = run_as(root, "linux", "x86_64", *command)
    (requirement,) = answer["requirements"]
    assert requirement.partition("==")[0] == package
    assert answer["constraints"] == []
    assert [entry["backend"] for entry in answer["candidates"] if entry["chosen"]] == ["cpu"]
    (warning,) = answer["warnings"]
    assert f"only {package} itself is asked for, which has an XLA for the CPU" in warning


def test_nothing_of_linux_is_looked_at_on_macos(root: Path) -> None:
    """No accelerator of ours is there: no device, library or program is tried."""
    machine, seen = run_as(root, "darwin", "arm64", "detect", "--json")
    assert (machine["os"], machine["arch"]) == ("darwin", "arm64")
    assert [place for _, place in seen if place.startswith(LINUX)] == []
    assert [event for event, _ in seen if event in PROGRAMS] == []
    answer, seen = run_as(root, "darwin", "arm64", "resolve", "jax", "--json")
    assert [need.partition("==")[0] for need in answer["requirements"]] == ["jax"]
    assert [event for event, _ in seen if event in PROGRAMS] == []


def test_windows_is_detected_without_anything_of_linux(root: Path) -> None:
    """Only NVIDIA's driver is asked for there, which PyTorch can use."""
    machine, seen = run_as(root, "win32", "AMD64", "detect", "--json")
    assert (machine["os"], machine["arch"]) == ("windows", "x86_64")
    assert [place for _, place in seen if place.startswith(LINUX)] == []
    answer, _ = run_as(root, "win32", "AMD64", "resolve", "jax", "--json")
    assert [need.partition("==")[0] for need in answer["requirements"]] == ["jax"]


def test_every_module_is_imported_where_posix_is_not(root: Path) -> None:
    """Also those that no command above needed."""
    folder = root / "selector/jaxlib_select"
    names = sorted(
        ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if path.name != "__main__.py"
    )
    code = (
        "import importlib, shutil, subprocess, sys\n"  # what Linux's own standard library needs comes first
        f"for name in {POSIX_ONLY!r}: sys.modules[name] = None\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
    )
    environ = {"PYTHONPATH": str(folder.parent)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environ)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(names) > 60
