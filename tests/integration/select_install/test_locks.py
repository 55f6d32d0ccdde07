# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Locks of `jaxlib-select`: written for a machine, compared with others, and installed by uv and pip."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from console_blocks import matches, shown
from pjrtwheel.environment.venv import find_uv
from select_bench import WANTED, Bench, backends
from select_commands import lacking

pytestmark = pytest.mark.integration
UV = find_uv()


def test_uv_and_pip_install_every_group_of_a_lock(bench: Bench, locked: Path) -> None:
    """The decision by default, another backend by its group; the lock made for a GPU serves a machine without."""
    for group, wanted in WANTED.items():
        by_default = group == "cuda13"
        with_uv, with_pip = bench.python(f"uv {group}"), bench.python(f"pip {group}")
        bench.uv("pip", "install", "--python", with_uv, "-r", locked, *(() if by_default else ("--group", group)))
        asked = ("-r", locked) if by_default else ("--group", f"{locked}:{group}")
        bench.pip(with_pip, "install", "--no-index", *asked)
        assert (backends(with_uv), backends(with_pip)) == (wanted, wanted)


def test_a_wrong_hash_is_refused(bench: Bench, locked: Path) -> None:
    """The hashes in the lock are those of the files."""
    document = tomllib.loads(locked.read_text())
    (jaxlib,) = (entry for entry in document["packages"] if entry["name"] == "jaxlib")
    (wheel,) = jaxlib["wheels"]
    locked.write_text(locked.read_text().replace(wheel["hashes"]["sha256"], "0" * 64))
    result = bench.attempt(UV, "pip", "install", "--python", bench.python("refused"), "-r", locked)
    assert (result.returncode, "Hash mismatch" in result.stderr) == (1, True)
    assert "changed by hand" in bench.check(locked, "h100", status=1)


def test_lock_check(bench: Bench, root: Path, locked: Path) -> None:
    """The machine it was made for agrees; one without GPU gets the group to apply."""
    assert "agree: cuda13" in bench.check(locked, "h100")
    said = bench.check(locked, "cpu", status=1)
    page = shown(root / "selector/README.md", "jaxlib-select lock --check")
    assert matches(page.replace("pylock.toml", str(locked)), said.strip())
    assert f"run: jaxlib-select apply {locked} --group cpu" in said
    said = bench.check(locked, "gtx1080ti", status=1)
    assert f"run: jaxlib-select apply {locked} --group cuda12-legacy" in said
    assert "it holds for linux_x86_64, not for linux_aarch64" in bench.check(locked, "gh200", status=1)


def test_the_command_that_writes_a_lock_again(bench: Bench) -> None:
    """It can be pasted as it is: it names the groups and the folders, of which one is next to the lock file."""
    next_to = bench.folder / "my wheels"
    next_to.symlink_to(bench.wheels)
    target = ("--machine", bench.machine("cpu"), "--python", bench.interpreter.path)
    lock = bench.folder / "pylock.toml"
    bench.select("lock", "jax", "--groups", "cuda12", "--no-index", "--find-links", "my wheels", *target)
    written = lock.read_text()
    lock.write_text(written.replace("0.6.0", "0.6.1"))
    said = bench.select("lock", "--check", lock.name, *target, status=1)
    again = shlex.split(said.splitlines()[0].partition("write it again: ")[2])
    assert again[:4] == ["jaxlib-select", "lock", "jax", "--groups"]
    bench.select(*again[1:], *target)
    assert lock.read_text() == written


def test_a_lock_holds_for_one_platform_and_one_python(bench: Bench, locked: Path) -> None:
    """The check, `apply`, uv and pip refuse it for another Python; none is written for another platform."""
    misfit = "it holds for Python 3.12, not for 3.11"
    here = ("--machine", bench.machine("h100"), "--python", sys.executable)
    assert misfit in bench.select("lock", "--check", locked, *here, status=1)
    assert misfit in bench.select("apply", locked, "--dry-run", *here, status=2)
    other = bench.folder / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(other)], check=True)
    target = ("--python", other / "bin/python")
    for program, status in (
        ((UV, "pip", "install", *target), 2),
        ((sys.executable, "-m", "pip", *target, "install", "--no-index"), 1),
    ):
        refused = bench.attempt(*program, "-r", locked)
        assert (refused.returncode, "==3.12.*" in refused.stderr) == (status, True), refused.stderr
    said = bench.select("lock", "jax", *bench.target(bench.interpreter.path, "gh200"), status=2)
    assert lacking(said, "Linux on aarch64", "linux_x86_64") == []


def test_apply_swaps_the_backend(bench: Bench, locked: Path) -> None:
    """From CUDA 13 to the CPU in one environment: the other backend is removed."""
    python = bench.python("swapped")
    bench.uv("pip", "install", "--python", python, "-r", locked)
    bench.select("apply", locked, "--group", "cpu", "--python", python, "--machine", bench.machine("cpu"))
    assert backends(python) == WANTED["cpu"] | {"nvidia-cublas": "13.1.0.3"}


def test_apply_with_the_oldest_pip_at_hand(bench: Bench, locked: Path) -> None:
    """It cannot read the lock, and gets the same as a requirements file with hashes."""
    python = bench.python("old", pip=True)
    bench.select("apply", locked, "--group", "cpu", *bench.target(python, "cpu", "pip"))
    assert backends(python) == WANTED["cpu"]


@pytest.mark.parametrize(("machine", "group"), [("h100", "cuda13"), ("cpu", "cpu"), ("gtx1080ti", "cuda12-legacy")])
def test_a_requirements_file_for_every_tool(bench: Bench, machine: str, group: str) -> None:
    """Pinned with hashes; the old GPU gets a cuDNN that still has code for it."""
    bench.select("lock", "jax", "-o", "requirements.txt", *bench.target(bench.python("resolving"), machine))
    with_uv, with_pip = bench.python("with uv"), bench.python("with pip")
    bench.uv("pip", "install", "--python", with_uv, "--require-hashes", "-r", "requirements.txt")
    bench.pip(with_pip, "install", "-r", bench.folder / "requirements.txt")
    assert (backends(with_uv), backends(with_pip)) == (WANTED[group], WANTED[group])
