# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From what the checks of a library left to what that says about it."""

import ctypes
import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel import cli, tables
from pjrtwheel.backend import load_backends
from pjrtwheel.environment.processes import Ended
from pjrtwheel.errors import ElfError, WheelError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.probe.inside import bound_extension
from pjrtwheel.probe.plugin import (
    Check,
    CheckResult,
    ProbeOutcome,
    ProbeResult,
    judge,
    probe_file,
    probe_plugin,
    read_plugin,
)
from small_libraries import build_elf, build_macho

NO_DEVICE = "FailedPrecondition: No visible GPU devices."
ENDED = Ended(0, "", 300)


def answer(*checks: tuple[str, str, str], begun: str = "") -> dict[str, Any]:
    """Return what the process leaves."""
    return {
        "api_version": [0, 115],
        "attributes": {"number": 13000, "version": [1, 20, 0], "text": "x"},
        "extensions": [{"type": 5, "name": "FFI"}, {"type": 99, "name": ""}],
        "checks": [{"name": name, "result": result, "detail": detail} for name, result, detail in checks],
        "begun": begun,
    }


def test_missing_capabilities_are_no_failure() -> None:
    """Plugins differ; a check that cannot be made says nothing against one."""
    checks = (
        ("client.platform_name", "passed", "demo"),
        ("stream.events", "skipped", "none"),
        ("a.b", "not supported", "no"),
    )
    result = judge(answer(*checks), ENDED, device=True)
    assert result == ProbeResult(
        ProbeOutcome.PASSED,
        pjrt_api="0.115",
        platform="demo",
        extensions=("FFI", "type 99"),
        attributes={"number": "13000", "version": "1.20.0", "text": "x"},
        checks=tuple(Check(name, CheckResult(outcome), detail) for name, outcome, detail in checks),
    )
    assert result.summary() == "passed: 1 passed, 1 not supported, 1 skipped"
    assert tables.write(result)["checks"][1] == {"name": "stream.events", "result": "skipped", "detail": "none"}


TT_FATAL = "Internal: TT_FATAL @ cluster.cpp:12: chips > 0\ninfo:\nNo chips detected in the cluster\nbacktrace:"


@pytest.mark.parametrize(
    ("check", "detail", "device", "outcome", "reason"),
    [
        ("client.create", NO_DEVICE, False, ProbeOutcome.NO_DEVICE, NO_DEVICE),
        ("client.create", NO_DEVICE, True, ProbeOutcome.FAILED, NO_DEVICE),
        ("client.create", TT_FATAL, False, ProbeOutcome.NO_DEVICE, "No chips detected in the cluster"),
        ("client.create", "Internal: CUDA_ERROR_NO_DEVICE", False, ProbeOutcome.NO_DEVICE, None),
        ("client.create", "Internal: no kernel image for the device", False, ProbeOutcome.FAILED, None),
        ("client.create", "Internal: no memory on device 0", False, ProbeOutcome.FAILED, None),
        ("client.create", "Internal: initialized 0 of 8 devices, firmware crashed", False, ProbeOutcome.FAILED, None),
        ("compile.stablehlo_text", NO_DEVICE, False, ProbeOutcome.FAILED, NO_DEVICE),
    ],
    ids=["words", "it is here", "in a later line", "code", "no kernel", "no memory", "crashed", "another check"],
)
def test_absence_of_the_device_is_told_from_a_broken_library(
    *, check: str, detail: str, device: bool, outcome: ProbeOutcome, reason: str | None
) -> None:
    """By its own words, where it looks for one."""
    result = judge(answer((check, "failed", detail)), ENDED, device=device)

    assert (result.outcome, result.reason) == (outcome, f"{check}: {reason or detail}")
    excused = outcome is ProbeOutcome.NO_DEVICE
    assert result.summary().startswith(f"{outcome}: 1 {'without the device' if excused else 'failed'}: ")
    assert judge(answer(("client.platform_name", "skipped", "no client")), ENDED, device=device).platform == ""
    two = answer((check, "failed", detail), ("device.coords", "failed", "Internal: no"))
    assert judge(two, ENDED, device=device).outcome is ProbeOutcome.FAILED, "it excuses no other failure"
    assert judge(answer(), ENDED, device=device).outcome is ProbeOutcome.FAILED, "nothing was shown"


def test_the_check_in_which_a_library_died_is_named() -> None:
    """With what it said itself, and with the checks before it; also where it dies when all is done."""
    noise = [f"line {number}" for number in range(50)]
    end = Ended(-6, "\n".join([*noise, "TT_FATAL: bad chip", "terminate called", "  frame"]), 300)
    result = judge(answer(("plugin.initialize", "passed", "ok"), begun="client.create"), end, device=False)
    assert (result.outcome, result.reason) == (
        ProbeOutcome.FAILED,
        "client.create: killed by SIGABRT: TT_FATAL: bad chip",
    )
    assert result.summary().startswith("failed: 1 passed, 1 failed: client.create: ")
    assert result.output.splitlines() == [*noise[-37:], "TT_FATAL: bad chip", "terminate called", "frame"]
    absent = Ended(-6, "TT_FATAL: No chips detected", 300)
    assert judge(answer(begun="client.create"), absent, device=False).outcome is ProbeOutcome.NO_DEVICE
    late = judge(answer(("plugin.initialize", "passed", "ok")), Ended(-11, "", 300), device=False)
    assert late.reason == "close: killed by SIGSEGV: it left no output"


def test_a_library_that_hangs_has_failed(tmp_path: Path) -> None:
    """With its time limit as the reason."""
    found = probe_plugin(tmp_path / "demo.so", {}, time_limit=0.001)
    assert (found.outcome, "0.001 seconds" in found.reason) == (ProbeOutcome.FAILED, True)


@pytest.mark.parametrize(
    ("data", "here", "fault"),
    [
        (build_macho(exports=("GetPjrtApi",)), "macos_arm64", ""),
        (build_macho(), "macos_arm64", "exports no GetPjrtApi"),
        (build_macho(), "linux_x86_64", "no ELF file"),
    ],
    ids=["a plugin", "no plugin", "of another system"],
)
def test_a_library_is_for_the_system_that_it_is_on(tmp_path: Path, data: bytes, here: str, fault: str) -> None:
    """By its format and its exports, whatever it is called."""
    (tmp_path / "foo.so").write_bytes(data)
    with pytest.raises(ElfError, match=fault) if fault else nullcontext():
        assert read_plugin(tmp_path / "foo.so", PLATFORMS[here]).is_plugin


@dataclass(frozen=True)
class Extension:
    """As in pypjrt: an extension's `version` is its struct_size."""

    version: int
    address: int


def test_nothing_is_read_behind_the_end_of_an_extension() -> None:
    """Older libraries have fewer functions; what lies behind them is not one."""
    memory = (ctypes.c_uint64 * 10)(*[7] * 10)
    copy = bound_extension(Extension(72, ctypes.addressof(memory)))
    assert list((ctypes.c_uint64 * 10).from_address(copy.address)) == [*[7] * 9, 0]


def test_wheel_without_a_plugin_is_refused(root: Path, make_wheel: Callable[..., Path]) -> None:
    """Its name does not matter, nor whose wheel it is: it must be one library that exports the entry point."""
    backends = tuple(load_backends(root).values())
    other, broken = build_elf(exports=("PyInit_demo",)), b"no library"
    with pytest.raises(WheelError, match="holds 0 plugin libraries, expected one"):
        probe_file(make_wheel({"demo/other.so": other, "demo/broken.so": broken}), backends, device=False)
    with pytest.raises(WheelError, match="holds 2 plugin libraries, expected one"):
        probe_file(make_wheel({"demo/a.so": build_elf(), "demo/b.so": build_elf()}), backends, device=False)
    foreign = build_elf(machine=8)
    result = probe_file(make_wheel({"demo/a.so": foreign, "demo/b.so": other}), backends, device=False)
    assert (result.outcome, "a.so is made for" in result.reason) == (ProbeOutcome.UNFIT, True)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no library", "is not an ELF file"),
        (build_elf(machine=8), "is made for machine 8"),
        (build_elf()[:-1], "is truncated"),
        (build_elf(exports=("PyInit_demo",)), "exports no GetPjrtApi, but PyInit_demo"),
    ],
    ids=["text", "machine", "truncated", "no plugin"],
)
def test_command_fails_for_what_does_not_open(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, said: str
) -> None:
    """What the file itself shows is said in words; the answer is one line per file, and JSON holds every check."""
    path = tmp_path / "demo.so"
    path.write_bytes(data)

    statuses = [cli.main(["probe", str(path), "--root", str(root), *options]) for options in ([], ["--json"])]

    text, brace, document = capsys.readouterr().out.partition("{")
    assert statuses == [ElfError.exit_code] * 2
    assert " ".join(text.split()).startswith(f"demo.so PJRT not read: unfit: demo.so {said}")
    assert json.loads(brace + document)[str(path)]["outcome"] == "unfit"
