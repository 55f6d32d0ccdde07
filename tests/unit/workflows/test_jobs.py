# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which wheels continuous integration builds, tests and starts, for several releases."""

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.cli import main
from pjrtwheel.errors import UsageError
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.workflows import Jobs, ReleaseJob, WheelJob, list_jobs, read_machines
from release_under_test import BACKENDS, ROOT

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
NEW_NATIVE = (WheelJob("1.10", "jaxlib", MAC, APPLE, "3.12"), WheelJob("1.10", "jaxlib", MAC, APPLE, "3.14t"))


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
        native=(*NEW_NATIVE, WheelJob("1.9", "jaxlib", MAC, APPLE, "3.12")),
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
        native=(*NEW_NATIVE, WheelJob("1.9", "jaxlib", MAC, APPLE, "3.12")),
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
    assert list_jobs((OLD, NEW), (CPU, ABACUS), names=("abacus", "jaxlib"), platforms=(X86, MAC)) == Jobs(
        wheels=(*NEW_WHEELS[1:], OLD_ABACUS, OLD_MAC),
        releases=(
            ReleaseJob("1.10", "dist-1.10-*", tested=False, pythons="3.14t\n3.12"),
            ReleaseJob("1.9", "dist-1.9-*", tested=False, pythons="3.12"),
        ),
        native=(*NEW_NATIVE, WheelJob("1.9", "jaxlib", MAC, APPLE, "3.12")),
    )


def test_accelerators_prove_what_is_built() -> None:
    """Each release, on the machine that the repository has for a backend and platform."""
    text = json.dumps({"abacus": ["own", "beads"], f"abacus/{ARM}": ["small"]})
    machines = read_machines(text, (CPU, dataclasses.replace(ABACUS, tags={X86: "", ARM: ""})))
    assert list_jobs((OLD, NEW), (CPU, ABACUS), machines=machines).accelerators == (
        WheelJob("1.10", "abacus", X86, ("own", "beads"), "3.14t\n3.12"),
        WheelJob("1.9", "abacus", X86, ("own", "beads"), "3.12"),
        WheelJob("1.9", "abacus", ARM, ("small",), "3.12"),
    )
    assert list_jobs((OLD, NEW), (CPU, ABACUS), names=["cpu"], machines=machines).accelerators == ()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--backends", "cpu cud13"), "cud13"),
        (("--platforms", "linux"), "linux"),
        (("--backends", "cpu", "--platforms", "windows_x86_64"), "windows_x86_64"),
        (("--release", "0.0.1"), "0.0.1"),
        (("--accelerators", "cuda13"), ""),
        (("--accelerators", "[]"), ""),
        (("--accelerators", '{"cuda13": "h100"}'), ""),
        (("--accelerators", '{"cuda13": []}'), ""),
        (("--accelerators", '{"cuda13": [1]}'), ""),
        (("--accelerators", '{"cuda": ["h100"]}'), "cuda/linux_x86_64"),
        (("--accelerators", '{"cuda13/mac": ["h100"]}'), "cuda13/mac"),
    ],
)
def test_names_that_nothing_has_are_refused(
    options: tuple[str, ...], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A small run of the wrong wheels would look like a good one."""
    assert main(["matrix", "--root", str(ROOT), *options]) == UsageError.exit_code
    captured = capsys.readouterr()
    assert (captured.out, named in captured.err) == ("", True)


def test_nothing_to_build_is_refused(tmp_path: Path) -> None:
    """An empty list of jobs would be an error of the server that says nothing of the cause."""
    shutil.copytree(ROOT / "plugins", tmp_path / "plugins")
    (tmp_path / "releases").mkdir()
    assert main(["matrix", "--root", str(tmp_path)]) == UsageError.exit_code


def run_matrix(*options: str) -> dict[str, list[dict[str, Any]]]:
    """Return what the command prints where nothing is installed yet, whichever machine asks."""
    command = [sys.executable, "-S", "-m", "pjrtwheel", "matrix", "--root", str(ROOT), *options]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT / "build")}, capture_output=True, check=True)
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def test_every_library_of_every_release_has_a_job() -> None:
    """Without options all releases, with `--release` one, with `--once` each place once; every platform occurs."""
    everything, once = run_matrix(), run_matrix("--once")
    for version in list_releases(ROOT):
        keys = [key.split(".") for key in load_release(ROOT, version).pins]
        libraries = [(parts[1], parts[2]) for parts in keys if parts[0] == "plugin"]
        alone = {parts[2] for parts in keys if parts[0] == "bindings"} - {platform for _, platform in libraries}
        jobs = [job for job in everything["wheels"] if job["release"] == version]
        assert sorted(map(place, jobs)) == sorted([*libraries, *(("jaxlib", name) for name in alone)])
        assert run_matrix("--release", version)["wheels"] == jobs
    found = [place(job) for job in once["wheels"]]
    assert (len(found), set(found)) == (len(set(found)), set(map(place, everything["wheels"])))


def place(job: dict[str, Any]) -> tuple[str, str]:
    """Return backend and platform of a job."""
    return job["backend"], job["platform"]
