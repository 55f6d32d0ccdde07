# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-select` and the loaders on macOS and Windows, as far as Python on Linux can pretend to be there."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select.choose.resolve import resolve
from jaxlib_select.machine.model import Machine

# Modules of the standard library that Windows has not.
POSIX_ONLY = ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")

# Where Linux has its devices, and what starts programs or opens libraries.
LINUX = ("/dev", "/proc", "/sys")
PROGRAMS = ("ctypes.dlopen", "subprocess.Popen", "os.posix_spawn")

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
    words = [sys.executable, "-c", code, system, machine, *command]
    result = subprocess.run(words, capture_output=True, text=True, check=False, env=environ)
    assert (result.returncode, "Traceback" in result.stderr) == (0, False), result.stderr
    shown = json.loads(result.stderr.splitlines()[-1])
    assert shown["status"] == 0
    return json.loads(result.stdout), shown["seen"]


OTHERS = [Machine("darwin", "arm64"), Machine("windows", "x86_64"), Machine("linux", "aarch64")]


@pytest.mark.parametrize("machine", OTHERS, ids=lambda machine: machine.os)
@pytest.mark.parametrize("package", ["jax", "jaxlib"])
def test_a_machine_without_our_accelerators_gets_jax_alone(machine: Machine, package: str) -> None:
    """It has an XLA for the CPU in `jaxlib` itself, so nothing is amiss."""
    decision = resolve(package, machine)
    assert (decision.package, decision.backend, decision.requirements) == (package, "cpu", (f"{package}==1.2.3",))
    assert (decision.constraints, decision.warnings) == ((), ())


@pytest.mark.parametrize(
    ("system", "machine", "found", "avoided"),
    [
        ("darwin", "arm64", ("darwin", "arm64"), PROGRAMS),  # no accelerator of ours is there
        ("win32", "AMD64", ("windows", "x86_64"), ()),  # NVIDIA's driver is asked, which PyTorch can use
    ],
)
def test_nothing_of_linux_is_looked_at_elsewhere(
    root: Path, system: str, machine: str, found: tuple[str, str], avoided: tuple[str, ...]
) -> None:
    """No device, and on macOS neither a library nor a program is tried."""
    detected, seen = run_as(root, system, machine, "detect", "--json")
    assert (detected["os"], detected["arch"]) == found
    assert [(event, place) for event, place in seen if place.startswith(LINUX) or event in avoided] == []
    answer, seen = run_as(root, system, machine, "resolve", "jax", "--json")
    assert [need.partition("==")[0] for need in answer["requirements"]] == ["jax"]
    assert [event for event, _ in seen if event in avoided] == []


def test_every_module_is_imported_where_posix_is_not(root: Path) -> None:
    """Also those that no command above needed."""
    package = root / "selector/jaxlib_select"
    paths = [path.relative_to(package.parent).with_suffix("") for path in package.rglob("*.py")]
    names = sorted(".".join(path.parts) for path in paths if path.name != "__main__")
    code = (
        "import importlib, shutil, subprocess, sys\n"  # what Linux's own standard library needs comes first
        f"for name in {POSIX_ONLY!r}: sys.modules[name] = None\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(package.parent)})
