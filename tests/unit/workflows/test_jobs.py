# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which wheels continuous integration builds, tests and starts, for several releases."""

from __future__ import annotations

import dataclasses
import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.cli import main
from pjrtwheel.errors import UsageError
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.workflows.jobs import AcceleratorJob, Jobs, NativeJob, ReleaseJob, Selection, WheelJob, list_jobs
from pjrtwheel.workflows.machines import read_machines

ROOT = Path(__file__).resolve().parents[3]
BACKENDS = load_backends(ROOT)
X86, ARM, MAC = "linux_x86_64", "linux_aarch64", "macos_arm64"
CPU = BACKENDS["cpu"]
ABACUS = dataclasses.replace(CPU, name="abacus", pjrt_name="abacus")


def make_release(version: str, *keys: str) -> Release:
    """Return a release that has a compiler and some pins."""
    pins = {key: Pin(key, "p", version, "p-1-py3-none-any.whl", "ab" * 32, 1) for key in (f"compiler.{X86}", *keys)}
    return Release(pins=pins, digest="", path=Path(f"releases/{version}.toml"), version=version, build=1)


def bindings(python: str, *platforms: str) -> list[str]:
    """Return the keys of the bindings for a Python."""
    return [f"bindings.{python}.{platform}" for platform in platforms]


OLD = make_release(
    "1.9", *bindings("cp312", X86, ARM, MAC), f"plugin.cpu.{X86}", f"plugin.abacus.{X86}", f"plugin.abacus.{ARM}"
)
NEW = make_release(
    "1.10", *bindings("cp312", X86, MAC), *bindings("cp314t", X86, MAC), f"plugin.cpu.{X86}", f"plugin.abacus.{X86}"
)
LINUX, APPLE = "ubuntu-24.04", "macos-15"
OLD_CPU, OLD_ABACUS, OLD_ARM, OLD_MAC = (
    WheelJob("1.9", "cpu", X86, LINUX, "3.12"),
    WheelJob("1.9", "abacus", X86, LINUX, "3.12"),
    WheelJob("1.9", "abacus", ARM, "ubuntu-24.04-arm", "3.12"),
    WheelJob("1.9", "jaxlib", MAC, LINUX, "3.12"),
)
NEW_WHEELS = (
    WheelJob("1.10", "cpu", X86, LINUX, "3.14t\n3.12"),
    WheelJob("1.10", "abacus", X86, LINUX, "3.14t\n3.12"),
    WheelJob("1.10", "jaxlib", MAC, LINUX, "3.14t\n3.12"),
)
NEW_NATIVE = (NativeJob("1.10", MAC, APPLE, "3.12"), NativeJob("1.10", MAC, APPLE, "3.14t"))


def jobs_of(*releases: Release, once: bool = False) -> Jobs:
    """Return the jobs for two backends."""
    return list_jobs(releases, (CPU, ABACUS), once=once)


def without_cpu(release: Release) -> Release:
    """Return a release whose library for the CPU is not on the index."""
    return dataclasses.replace(
        release, pins={key: pin for key, pin in release.pins.items() if "plugin.cpu." not in key}
    )


def test_every_release_is_built_tested_and_started_whole() -> None:
    """Each on the machines of its platforms; only what is built elsewhere is started by a job of its own."""
    assert jobs_of(OLD, NEW) == Jobs(
        wheels=(*NEW_WHEELS, OLD_CPU, OLD_ABACUS, OLD_ARM, OLD_MAC),
        releases=(
            ReleaseJob("1.10", "dist-1.10-*", tested=True, pythons="3.14t\n3.12"),
            ReleaseJob("1.9", "dist-1.9-*", tested=True, pythons="3.12"),
        ),
        native=(*NEW_NATIVE, NativeJob("1.9", MAC, APPLE, "3.12")),
    )


def test_a_change_of_the_repository_builds_each_backend_and_platform_once() -> None:
    """Out of the newest release that has it; the tests see all of them."""
    assert jobs_of(OLD, NEW, once=True) == Jobs(
        wheels=(*NEW_WHEELS, OLD_ARM),
        releases=(ReleaseJob("1.10", "dist-*", tested=True, pythons="3.14t\n3.12"),),
        native=NEW_NATIVE,
    )


def test_the_release_that_is_tested_is_built_whole() -> None:
    """The tests need the CPU, so without it another release than the newest is tested."""
    assert jobs_of(OLD, without_cpu(NEW), once=True) == Jobs(
        wheels=(*NEW_WHEELS[1:], OLD_CPU, OLD_ABACUS, OLD_ARM, OLD_MAC),
        releases=(ReleaseJob("1.9", "dist-*", tested=True, pythons="3.12"),),
        native=(*NEW_NATIVE, NativeJob("1.9", MAC, APPLE, "3.12")),
    )


@pytest.mark.parametrize(("once", "artifacts"), [(False, "dist-1.10-*"), (True, "dist-*")])
def test_a_release_without_the_cpu_is_joined_and_not_tested(artifacts: str, *, once: bool) -> None:
    """The tests cannot run, but there is one folder of its wheels to be indexed and published."""
    assert jobs_of(without_cpu(NEW), once=once) == Jobs(
        wheels=NEW_WHEELS[1:],
        releases=(ReleaseJob("1.10", artifacts, tested=False, pythons="3.14t\n3.12"),),
        native=NEW_NATIVE,
    )
    (_, old) = jobs_of(without_cpu(OLD), NEW).releases
    assert (old.release, old.tested) == ("1.9", False)


def test_a_release_without_wheels_has_no_jobs() -> None:
    """Nothing would be there to be joined."""
    assert jobs_of(make_release("1.11")) == Jobs((), (), ())
    assert jobs_of(NEW, make_release("1.11"), once=True) == jobs_of(NEW, once=True)


def test_a_run_is_restricted_to_what_was_asked_for() -> None:
    """To backends, to platforms, or both; what is left is joined, and tested where the CPU is among it."""
    selection = Selection(frozenset({"abacus", "jaxlib"}), frozenset({X86, MAC}))
    assert list_jobs((OLD, NEW), (CPU, ABACUS), selection=selection) == Jobs(
        wheels=(*NEW_WHEELS[1:], OLD_ABACUS, OLD_MAC),
        releases=(
            ReleaseJob("1.10", "dist-1.10-*", tested=False, pythons="3.14t\n3.12"),
            ReleaseJob("1.9", "dist-1.9-*", tested=False, pythons="3.12"),
        ),
        native=(*NEW_NATIVE, NativeJob("1.9", MAC, APPLE, "3.12")),
    )


def test_accelerators_prove_what_is_built() -> None:
    """Each release, on the machine that the repository has for a backend and platform."""
    text = json.dumps({"abacus": ["own", "beads"], f"abacus/{ARM}": ["small"]})
    machines = read_machines(text, (CPU, dataclasses.replace(ABACUS, tags={X86: "", ARM: ""})))
    assert list_jobs((OLD, NEW), (CPU, ABACUS), machines=machines).accelerators == (
        AcceleratorJob("1.10", "abacus", X86, ("own", "beads"), "3.14t\n3.12"),
        AcceleratorJob("1.9", "abacus", X86, ("own", "beads"), "3.12"),
        AcceleratorJob("1.9", "abacus", ARM, ("small",), "3.12"),
    )
    cpu = Selection(frozenset({"cpu"}))
    assert list_jobs((OLD, NEW), (CPU, ABACUS), selection=cpu, machines=machines).accelerators == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--backends", "cpu cud13"), "--backends: nothing is called cud13\n"),
        (("--platforms", "linux"), "--platforms: nothing is called linux\n"),
        (("--backends", "cpu", "--platforms", "windows_x86_64"), "there is nothing to build\n"),
        (("--accelerators", "cuda13"), "is not JSON\n"),
        (("--accelerators", "[]"), "does not map backends to labels\n"),
        (("--accelerators", '{"cuda13": "h100"}'), "does not map backends to labels\n"),
        (("--accelerators", '{"cuda13": []}'), "does not map backends to labels\n"),
        (("--accelerators", '{"cuda13": [1]}'), "does not map backends to labels\n"),
        (("--accelerators", '{"cuda": ["h100"]}'), "names 'cuda', which has no wheels\n"),
        (("--accelerators", '{"cuda13/mac": ["h100"]}'), "names 'cuda13/mac', which has no wheels\n"),
    ],
)
def test_names_that_nothing_has_are_refused(
    options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A small run of the wrong wheels would look like a good one."""
    assert main(["matrix", "--root", str(ROOT), *options]) == UsageError.exit_code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err


def run_matrix(*options: str) -> dict[str, list[dict[str, Any]]]:
    """Return what the command prints where nothing is installed yet."""
    command = [sys.executable, "-S", "-m", "pjrtwheel", "matrix", "--root", str(ROOT), *options]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT / "build")}, capture_output=True, check=True)
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def expected(*versions: str, once: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Return the jobs of releases of the repository as JSON has them."""
    releases = [load_release(ROOT, version) for version in versions]
    table = dataclasses.asdict(list_jobs(releases, tuple(BACKENDS.values()), once=once))
    return {name: list(jobs) for name, jobs in table.items()}


def places(jobs: dict[str, list[dict[str, Any]]], version: str) -> list[tuple[str, str]]:
    """Return backend and platform of the wheels of a release."""
    return [(job["backend"], job["platform"]) for job in jobs["wheels"] if job["release"] == version]


@pytest.mark.parametrize("version", list_releases(ROOT))
def test_every_library_of_every_release_has_a_job(version: str) -> None:
    """Without options all releases, with `--release` one; each platform of bindings occurs."""
    keys = [key.split(".") for key in load_release(ROOT, version).pins]
    libraries = [(parts[1], parts[2]) for parts in keys if parts[0] == "plugin"]
    alone = {parts[2] for parts in keys if parts[0] == "bindings"} - {platform for _, platform in libraries}
    everything, one = run_matrix(), run_matrix("--release", version)
    assert sorted(places(everything, version)) == sorted([*libraries, *(("jaxlib", name) for name in alone)])
    assert places(one, version) == places(everything, version)
    assert everything == expected(*list_releases(ROOT))
    assert one == expected(version)


def test_a_pull_request_leaves_no_library_out() -> None:
    """Every backend and platform of any release has exactly one job."""
    jobs = run_matrix("--once")
    assert jobs == expected(*list_releases(ROOT), once=True)
    found = [(job["backend"], job["platform"]) for job in jobs["wheels"]]
    everything = {(job["backend"], job["platform"]) for job in run_matrix()["wheels"]}
    assert (len(found), set(found)) == (len(everything), everything)


@pytest.mark.parametrize("version", list_releases(ROOT))
def test_every_python_of_macos_and_windows_is_started(version: str) -> None:
    """On a machine of its own."""
    release = load_release(ROOT, version)
    runners = {"macos_arm64": "macos-15", "windows_x86_64": "windows-2025"}
    assert expected(version)["native"] == [
        {
            "release": version,
            "platform": platform,
            "runner": runner,
            "python": f"3.{python.removeprefix('cp3')}",
        }
        for platform, runner in runners.items()
        for python in release.pythons(platform)
    ]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "riscv64"])
def test_the_machine_that_asks_makes_no_difference(
    machine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where no wheels can be built."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert main(["matrix", "--root", str(ROOT)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected(*list_releases(ROOT))))


def test_nothing_to_build_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty list of jobs would be an error of the server that says nothing of the cause."""
    shutil.copytree(ROOT / "plugins", tmp_path / "plugins")
    (tmp_path / "releases").mkdir()
    assert main(["matrix", "--root", str(tmp_path)]) == UsageError.exit_code
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "error: there is nothing to build\n       no wheels for: no release\n")


def test_a_release_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """As after a wrong tag; nothing is printed for the workflow to read."""
    assert main(["matrix", "--root", str(ROOT), "--release", "0.0.1"]) == UsageError.exit_code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "unknown release: '0.0.1'" in captured.err
