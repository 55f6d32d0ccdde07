# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What inspection and PJRT's conformance checks say about real wheels."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.probe.plugin import CheckResult, ProbeOutcome, open_library, probe_file
from pjrtwheel.release.model import Release
from programs import run_tooling

pytestmark = pytest.mark.integration


def inspect(root: Path, *arguments: str | Path) -> list[dict[str, Any]]:
    """Run the command and return what it says about each wheel."""
    result = run_tooling(root, "inspect", "--json", "--root", root, *arguments)
    assert result.returncode == 0, result.stderr
    wheels: list[dict[str, Any]] = json.loads(result.stdout)["wheels"]
    return wheels


@pytest.fixture(scope="module")
def inspected(root: Path, built_wheels: Path) -> list[dict[str, Any]]:
    """Return what is said about our wheels."""
    return inspect(root, *sorted(built_wheels.glob("*.whl")))


def test_our_wheels_have_no_findings(root: Path, inspected: list[dict[str, Any]]) -> None:
    """What is found on upstream's wheels was repaired in ours, but for what a backend keeps on purpose."""
    searching = [backend for backend in load_backends(root).values() if backend.search_paths]
    keeping = {name for backend in searching for name in backend.distributions}
    kept = {"rpath-absolute", "rpath-outside"}
    found = {wheel["wheel"]: {finding["code"] for finding in wheel["findings"]} for wheel in inspected}

    # The bindings keep upstream's METADATA, with the licence in its old place.
    assert {
        wheel["wheel"]: found[wheel["wheel"]]
        - (kept if wheel["name"] in keeping else set())
        - ({"license-field"} if wheel["name"] == "jaxlib" else set())
        for wheel in inspected
    } == {name: set() for name in found}
    assert len({json.dumps(wheel["lock"]) for wheel in inspected}) == 1


def test_what_is_found_on_upstream_bindings(root: Path, release: Release) -> None:
    """The pinned wheel of the index is read as it is."""
    pin = release.pin("bindings.cp312.linux_x86_64")
    wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(pin)

    (found,) = inspect(root, wheel)

    codes = {finding["code"] for finding in found["findings"]}
    assert {"lock", "sbom", "license-field", "symbols", "rpath-build-tree"} <= codes
    assert (found["name"], found["version"], found["purelib"]) == ("jaxlib", release.version, False)


def test_gpu_code_in_the_record_is_what_inspection_reads(inspected: list[dict[str, Any]], built_wheels: Path) -> None:
    """The tool that assembled a wheel and this one read the same; without GPU code both read none."""
    record = json.loads((built_wheels / "release.json").read_text("utf-8"))
    recorded = {entry["filename"]: sorted(entry["gpu_code"]) for entry in record["wheels"]}

    read = {
        wheel["wheel"]: sorted(name for names in wheel["gpu_code"].values() for name in names) for wheel in inspected
    }

    assert read == recorded


def test_no_conformance_check_fails_on_our_plugins(
    root: Path,
    built_wheels: Path,
    inspected: list[dict[str, Any]],
    pinned_api: Callable[[str], tuple[str, int]],
) -> None:
    """PJRT alone, without JAX; only the absence of a device may excuse what did not run.

    The version that a library reports is what inspection reads from it.
    """
    backends = load_backends(root)
    bundled = {b.distribution.replace("-", "_"): b for b in backends.values() if b.prebuilt.bundled}
    wheels = [wheel for wheel in sorted(built_wheels.glob("*.whl")) if wheel.name.split("-")[0] in bundled]

    results = {wheel.name: probe_file(wheel, tuple(backends.values()), device=False) for wheel in wheels}

    assert ProbeOutcome.FAILED not in {result.outcome for result in results.values()}
    read = {wheel["wheel"]: [lib["pjrt_api"] for lib in wheel["libraries"]] for wheel in inspected}
    assert {name: result.pjrt_api in read[name] for name, result in results.items()} == dict.fromkeys(results, True)
    (cpu,) = (result for name, result in results.items() if name.startswith("jaxlib_cpu-"))
    api, _ = pinned_api("cpu")
    assert (cpu.outcome, cpu.reason, cpu.pjrt_api, cpu.platform) == (ProbeOutcome.PASSED, "", api, "cpu")
    assert {"FFI", "Layouts", "MemoryDescriptions"} <= set(cpu.extensions)
    assert cpu.attributes["xla_version"] == "2"
    passed = {check.name for check in cpu.checks if check.result is CheckResult.OK}
    assert {"execute.single_device", "compile.deserialize_and_load", "client.create"} <= passed


def test_a_plugin_without_its_table_does_not_open(
    root: Path, tmp_path: Path, compile_library: Callable[..., Path]
) -> None:
    """What its entry point returns counts, and not that it returns."""
    (tmp_path / "none.c").write_text('__attribute__((visibility("default"))) void *GetPjrtApi(void) { return 0; }')
    assert "GetPjrtApi() returned NULL" in open_library(compile_library("none.so", tmp_path / "none.c"))
    assert open_library(compile_library("stub.so", root / "tests/data/stub_xla/xla/xla/pjrt/c/stub_plugin.c")) == ""


def test_a_library_of_an_older_header_is_no_crash(root: Path, release: Release) -> None:
    """A foreign wheel: its Layouts extension ends before a function that the checks ask for."""
    wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(release.pin("header.pjrt_c_api"))
    found = probe_file(wheel, tuple(load_backends(root).values()), device=True)
    assert (found.outcome, found.pjrt_api, found.reason) == (ProbeOutcome.PASSED, "0.81", "")
    assert {check.result for check in found.checks if check.name == "layouts.executable_parameters"} == {
        CheckResult.UNSUPPORTED
    }


INCLUDES = "#include <stdio.h>\n#include <stdlib.h>\nvoid beads(void);\n"
CRASH = 'return fputs("TT_FATAL: No chips detected\\n", stderr), abort(), &no_client;'


@pytest.mark.parametrize(
    ("code", "device", "outcome", "said"),
    [
        (CRASH, False, ProbeOutcome.NO_DEVICE, "client.create: killed by SIGABRT: TT_FATAL: No chips detected"),
        (CRASH, True, ProbeOutcome.FAILED, "client.create: killed by SIGABRT: TT_FATAL: No chips detected"),
        ("return beads(), &no_client;", False, ProbeOutcome.NOT_OPENED, "undefined symbols: beads; it names no"),
    ],
    ids=["no device", "the device is here", "undefined symbol"],
)
def test_a_young_library_says_what_is_wrong(
    root: Path,
    tmp_path: Path,
    compile_library: Callable[..., Path],
    *,
    code: str,
    device: bool,
    outcome: ProbeOutcome,
    said: str,
) -> None:
    """It may abort, or lack what another library has."""
    source = tmp_path / "young.c"
    stub = (root / "tests/data/stub_xla/xla/xla/pjrt/c/stub_plugin.c").read_text("utf-8")
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\nvoid beads(void);\n" + stub.replace("return &no_client;", code)
    )
    library = compile_library("young.so", source, "-Wl,--allow-shlib-undefined", "-Wl,-z,now")
    found = probe_file(library, (), device=device)
    assert (found.outcome, said in found.reason) == (outcome, True), found.reason
    if outcome is not ProbeOutcome.NOT_OPENED:
        assert (found.pjrt_api, found.output) == ("0.115", "TT_FATAL: No chips detected")
