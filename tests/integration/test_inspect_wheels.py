# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What inspection and PJRT's conformance checks say about real wheels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.conformance.probe import CheckResult, ProbeOutcome
from pjrtwheel.conformance.probe_file import probe_file
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.release import Release

pytestmark = pytest.mark.integration


def inspect(root: Path, *arguments: str | Path) -> list[dict[str, Any]]:
    """Run the command and return what it says about each wheel."""
    command = [sys.executable, "-m", "pjrtwheel", "inspect", "--json", "--root", str(root), *map(str, arguments)]
    environ = {**os.environ, "PYTHONPATH": str(root / "build")}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert result.returncode == 0, result.stderr
    wheels: list[dict[str, Any]] = json.loads(result.stdout)["wheels"]
    return wheels


def test_our_wheels_have_no_findings(root: Path, built_wheels: Path) -> None:
    """What is found on upstream's wheels was repaired in ours."""
    wheels = inspect(root, *sorted(built_wheels.glob("*.whl")))

    assert {wheel["wheel"]: wheel["remarks"] for wheel in wheels if wheel["name"] != "jaxlib"} == {
        wheel["wheel"]: [] for wheel in wheels if wheel["name"] != "jaxlib"
    }
    # The modules of the bindings define more than their entry points; that is how upstream links them.
    assert {remark["code"] for wheel in wheels for remark in wheel["remarks"]} <= {"exports"}
    assert len({json.dumps(wheel["lock"]) for wheel in wheels}) == 1


def test_opened_plugin_says_what_it_is(root: Path, built_wheels: Path, release: Release) -> None:
    """Version, extensions and attributes come from the library itself."""
    (wheel,) = built_wheels.glob("jaxlib_cpu-*.whl")

    (found,) = inspect(root, "--open", wheel)

    (plugin,) = found["plugins"].values()
    assert (plugin["refused"], plugin["pjrt_api"], plugin["slots"]) == ("", "0.115", 138)
    assert {"FFI", "Layouts", "MemoryDescriptions"} <= set(plugin["extensions"])
    assert plugin["attributes"]["xla_version"] == 2
    assert found["floors"]["GLIBC"] == "2.27"
    assert f"jaxlib=={release.version}" in found["requires"]


def test_what_is_found_on_upstream_bindings(root: Path, release: Release) -> None:
    """The pinned wheel of the index is read as it is."""
    pin = release.pin("bindings.cp312.linux_x86_64")
    wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(pin)

    (found,) = inspect(root, wheel)

    codes = {remark["code"] for remark in found["remarks"]}
    assert {"lock", "sbom", "license-field", "symbols", "rpath-build-tree"} <= codes
    assert (found["name"], found["version"], found["purelib"]) == ("jaxlib", release.version, False)


def test_gpu_code_in_the_wheel_is_what_inspection_reads(root: Path, built_wheels: Path) -> None:
    """For the GPU wheels of this folder, where there are any."""
    wheels = [wheel for wheel in inspect(root, *sorted(built_wheels.glob("*.whl"))) if any(wheel["gpu_code"].values())]
    if not wheels:
        pytest.skip("the folder holds no wheel with GPU code")
    release_json = json.loads((built_wheels / "release.json").read_text("utf-8"))
    recorded = {entry["filename"]: entry["gpu_code"] for entry in release_json["wheels"]}

    for wheel in wheels:
        assert sorted(recorded[wheel["wheel"]]) == sorted(
            name for names in wheel["gpu_code"].values() for name in names
        )


def test_no_conformance_check_fails_on_our_plugins(root: Path, built_wheels: Path) -> None:
    """PJRT alone, without JAX; only the absence of a device may excuse what did not run."""
    backends = load_backends(root)
    bundled = {b.distribution.replace("-", "_"): b for b in backends.values() if b.prebuilt.bundled}
    wheels = [wheel for wheel in sorted(built_wheels.glob("*.whl")) if wheel.name.split("-")[0] in bundled]

    results = {wheel.name: probe_file(root, wheel, tuple(backends.values()), device=False) for wheel in wheels}

    assert ProbeOutcome.FAILED not in {result.outcome for result in results.values()}
    (cpu,) = (result for name, result in results.items() if name.startswith("jaxlib_cpu-"))
    assert (cpu.outcome, cpu.reason, cpu.pjrt_api, cpu.platform) == (ProbeOutcome.PASSED, "", "0.115", "cpu")
    passed = {check.name for check in cpu.checks if check.result is CheckResult.OK}
    assert {"execute.single_device", "compile.deserialize_and_load", "client.create"} <= passed
