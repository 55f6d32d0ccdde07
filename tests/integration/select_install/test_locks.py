# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Locks of `jaxlib-select`: written for a machine, compared with others, and installed by uv and pip."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from console_blocks import matches, shown
from pjrtwheel.environment.venv import find_uv
from select_bench import WANTED, Bench, backends, wheel_of_pip

pytestmark = pytest.mark.integration


def test_uv_and_pip_install_every_group_of_a_lock(bench: Bench, locked: Path) -> None:
    """The decision by default, another backend by its group; the lock made for a GPU serves a machine without."""
    for tool in ("uv", "pip"):
        for group, wanted in WANTED.items():
            python = bench.python(f"{tool} {group}")
            by_default = group == "cuda13"
            if tool == "uv":
                bench.uv(
                    "pip", "install", "--python", python, "-r", locked, *(() if by_default else ("--group", group))
                )
            else:
                asked: tuple[str | Path, ...] = ("-r", locked) if by_default else ("--group", f"{locked}:{group}")
                bench.pip(python, "install", "--no-index", *asked)
            assert backends(python) == wanted


def test_a_wrong_hash_is_refused(bench: Bench, locked: Path) -> None:
    """The hashes in the lock are those of the files."""
    document = tomllib.loads(locked.read_text())
    (jaxlib,) = (entry for entry in document["packages"] if entry["name"] == "jaxlib")
    (wheel,) = jaxlib["wheels"]
    locked.write_text(locked.read_text().replace(wheel["hashes"]["sha256"], "0" * 64))
    python = bench.python("refused")
    command = [find_uv() or "uv", "pip", "install", "--python", str(python), "-r", str(locked)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=bench.environ)
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


@pytest.mark.parametrize("name", ["pylock.toml", "requirements.txt"])
def test_the_command_that_writes_a_lock_again(bench: Bench, name: str) -> None:
    """It can be pasted as it is: it names the groups and the folders, of which one is next to the lock file."""
    next_to = bench.folder / "my wheels"
    next_to.symlink_to(bench.wheels)
    target: tuple[str | Path, ...] = ("--machine", bench.machine("cpu"), "--python", bench.interpreter.path)
    bench.select("lock", "jax", "-o", name, "--groups", "cuda12", "--no-index", "--find-links", "my wheels", *target)
    lock = bench.folder / name
    written = lock.read_text()
    lock.write_text(written.replace("0.6.0", "0.6.1"))
    said = bench.select("lock", "--check", name, *target, status=1)
    again = shlex.split(said.splitlines()[0].partition("write it again: ")[2])
    assert again[:4] == ["jaxlib-select", "lock", "jax", "--groups"]
    bench.select(*again[1:], *target)
    assert lock.read_text() == written


def test_a_lock_holds_for_one_platform_and_one_python(bench: Bench, locked: Path) -> None:
    """The check, `apply`, uv and pip refuse it for another Python; none is written for another platform."""
    misfit = "it holds for Python 3.12, not for 3.11"
    here: tuple[str | Path, ...] = ("--machine", bench.machine("h100"), "--python", sys.executable)
    assert misfit in bench.select("lock", "--check", locked, *here, status=1)
    assert misfit in bench.select("apply", locked, "--dry-run", *here, status=2)
    other = bench.folder / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(other)], check=True)
    target = ("--python", other / "bin/python")
    for program, status in (
        ((find_uv() or "uv", "pip", "install", *target), 2),
        ((sys.executable, "-m", "pip", *target, "install", "--no-index"), 1),
    ):
        command = [*map(str, program), "-r", str(locked)]
        refused = subprocess.run(command, capture_output=True, text=True, check=False, env=bench.environ)
        assert (refused.returncode, "==3.12.*" in refused.stderr) == (status, True), refused.stderr
    said = bench.select(
        "lock", "jax", "--machine", bench.machine("gh200"), "--python", bench.interpreter.path, status=2
    )
    assert "error: the machine is Linux on aarch64, but the wheels would be for linux_x86_64" in said


def test_apply_swaps_the_backend(bench: Bench, locked: Path) -> None:
    """From CUDA 13 to the CPU in one environment: the other backend is removed."""
    python = bench.python("swapped")
    bench.uv("pip", "install", "--python", python, "-r", locked)
    bench.select("apply", locked, "--group", "cpu", "--python", python, "--machine", bench.machine("cpu"))
    assert backends(python) == WANTED["cpu"] | {"nvidia-cublas": "13.1.0.3"}


def test_apply_with_the_oldest_pip_at_hand(bench: Bench, locked: Path) -> None:
    """It cannot read the lock, and gets the same as a requirements file with hashes."""
    python = bench.python("old")
    bench.pip(python, "install", "--quiet", "--no-index", *wheel_of_pip(bench))
    options: tuple[str | Path, ...] = ("--installer", "pip", "--python", python, "--machine", bench.machine("cpu"))
    bench.select("apply", locked, "--group", "cpu", *options, "--no-index")
    assert backends(python) == WANTED["cpu"]


@pytest.mark.parametrize("machine", ["h100", "cpu", "gtx1080ti"])
def test_a_requirements_file_for_every_tool(bench: Bench, machine: str) -> None:
    """Pinned with hashes; the old GPU gets a cuDNN that still has code for it."""
    wanted = {"h100": WANTED["cuda13"], "cpu": WANTED["cpu"], "gtx1080ti": WANTED["cuda12-legacy"]}
    python = bench.python("resolving")
    options: tuple[str | Path, ...] = ("--machine", bench.machine(machine), "--python", python, *bench.links())
    bench.select("lock", "jax", "-o", "requirements.txt", *options)
    bench.check(bench.folder / "requirements.txt", machine)
    with_uv, with_pip = bench.python("with uv"), bench.python("with pip")
    bench.uv("pip", "install", "--python", with_uv, "--require-hashes", "-r", "requirements.txt")
    bench.pip(with_pip, "install", "-r", bench.folder / "requirements.txt")
    assert (backends(with_uv), backends(with_pip)) == (wanted[machine], wanted[machine])
