# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From the report of pypjrt's checks to what it says about a plugin."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from folders import write_files
from pjrtwheel import cli, tables
from pjrtwheel.backend import find_backend, load_backends
from pjrtwheel.errors import ProofError, UsageError, WheelError
from pjrtwheel.probe.plugin import (
    DEFAULTS,
    Check,
    CheckResult,
    ProbeOutcome,
    ProbeResult,
    ProbeSettings,
    load_settings,
    parse_answer,
    probe_file,
    probe_plugin,
)

NO_DEVICE = "FailedPrecondition: No visible devices."
SETTINGS = ProbeSettings(without_device={"client.create": "No visible devices"})


def answer(*checks: tuple[str, str, str]) -> dict[str, Any]:
    """Return a report as pypjrt writes it."""
    return {
        "plugin": "demo.so",
        "api_version": [0, 115],
        "platform": "demo",
        "attributes": {"number": 13000, "version": [1, 20, 0], "text": "x"},
        "extensions": [{"type": 5, "name": "FFI"}, {"type": 99, "name": ""}],
        "checks": [{"id": name, "category": "", "result": result, "detail": detail} for name, result, detail in checks],
    }


def test_missing_capabilities_are_no_failure() -> None:
    """Plugins differ; a check that cannot be made says nothing against one."""
    checks = ("client.create", "pass", "ok"), ("stream.events", "skip", "none"), ("a.b", "unsupported", "no")
    result = parse_answer(answer(*checks), DEFAULTS, device=True)
    assert result == ProbeResult(
        ProbeOutcome.PASSED,
        pjrt_api="0.115",
        platform="demo",
        extensions=("FFI", "type 99"),
        attributes={"number": "13000", "version": "1.20.0", "text": "x"},
        checks=tuple(Check(name, CheckResult(outcome), detail) for name, outcome, detail in checks),
    )
    assert result.summary() == "passed: 1 pass, 1 unsupported, 1 skip"
    assert tables.write(result)["checks"][1] == {"name": "stream.events", "result": "skip", "detail": "none"}


@pytest.mark.parametrize(
    ("settings", "device", "detail", "outcome"),
    [
        pytest.param(SETTINGS, False, NO_DEVICE, ProbeOutcome.NO_DEVICE, id="expected"),
        pytest.param(SETTINGS, True, NO_DEVICE, ProbeOutcome.FAILED, id="the device is here"),
        pytest.param(SETTINGS, False, "Internal: broken", ProbeOutcome.FAILED, id="another reason"),
        pytest.param(DEFAULTS, False, NO_DEVICE, ProbeOutcome.FAILED, id="nothing is expected"),
    ],
)
def test_absence_of_the_device_excuses_what_is_expected_by_name(
    *, settings: ProbeSettings, device: bool, detail: str, outcome: ProbeOutcome
) -> None:
    """Check and message must both be those of the backend's file."""
    result = parse_answer(answer(("client.create", "fail", detail)), settings, device=device)

    assert (result.outcome, result.reason) == (outcome, f"client.create: {detail}")
    excused = outcome is ProbeOutcome.NO_DEVICE
    assert result.summary().startswith(f"{outcome}: 1 {'needs the device' if excused else 'fail'}: ")
    two = answer(("client.create", "fail", detail), ("plugin.initialize", "fail", "Internal: no"))
    assert parse_answer(two, settings, device=device).outcome is ProbeOutcome.FAILED, "it excuses no other failure"
    assert parse_answer(answer(), settings, device=device).outcome is ProbeOutcome.FAILED, "nothing was shown"


def test_a_library_that_hangs_has_failed(tmp_path: Path) -> None:
    """With its time limit as the reason."""
    found = probe_plugin(tmp_path / "demo.so", time_limit=0.001)
    assert (found.outcome, "0.001 seconds" in found.reason) == (ProbeOutcome.FAILED, True)


@pytest.mark.parametrize("text", ["x", "unknown = {}", "without_device = 3", '[without_device]\n"a.b" = ""'])
def test_malformed_settings_are_refused(root: Path, tmp_path: Path, text: str) -> None:
    """An empty message would excuse every failure."""
    write_files(tmp_path, {"plugins/cpu/probe.toml": text})
    backend = replace(find_backend(root, "cpu"), path=tmp_path / "plugins/cpu/backend.toml")
    with pytest.raises(UsageError, match=r"malformed settings of the conformance checks: .*probe\.toml"):
        load_settings(backend)


def test_settings_of_every_backend_can_be_read(root: Path) -> None:
    """They are in its own directory, or in one that it shares."""
    settings = {name: load_settings(backend) for name, backend in load_backends(root).items()}
    assert (settings["cpu"], settings["cuda12"]) == (DEFAULTS, settings["cuda13"])


def test_wheel_without_a_plugin_is_refused(root: Path, make_wheel: Callable[..., Path]) -> None:
    """The message says which names are looked for."""
    wheel = make_wheel({"demo/other.so": b"\x7fELF"})

    with pytest.raises(WheelError, match="holds 0 plugin libraries, expected one"):
        probe_file(wheel, tuple(load_backends(root).values()), device=False)


def test_command_fails_for_what_does_not_open(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its answer is one line per file, and JSON holds every check."""
    path = tmp_path / "demo.so"
    path.write_bytes(b"no library")

    statuses = [cli.main(["probe", str(path), "--root", str(root), *options]) for options in ([], ["--json"])]

    line, _, document = capsys.readouterr().out.partition("\n")
    assert statuses == [ProofError.exit_code] * 2
    assert line.startswith("demo.so: PJRT not read: not opened: ")
    found = json.loads(document)[str(path)]
    assert (found["outcome"], "demo.so" in found["reason"]) == ("not opened", True)
