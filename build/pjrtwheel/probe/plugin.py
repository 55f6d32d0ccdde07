# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the conformance checks of the `pypjrt` package on a plugin library: PJRT alone, without JAX.

The checks run in a process of their own, because a library under test may crash. What a plugin does not offer is no
failure. That there is no device is none either, where that is what the library says.
"""

import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.binaries import ENTRY_POINT, Library, find_format, read_library
from pjrtwheel.elf.image import read_image
from pjrtwheel.environment.processes import Ended, ask_process, run_process
from pjrtwheel.errors import ElfError, WheelError, fit
from pjrtwheel.fetch.unpack import unpack_wheel
from pjrtwheel.platforms import BinaryFormat, Platform, this_platform

_INSIDE = Path(__file__).with_name("inside.py")
_TIME_LIMIT = 300.0
_OPEN = """
import ctypes, sys
get_api = ctypes.CDLL(sys.argv[1]).GetPjrtApi
get_api.restype = ctypes.c_void_p
sys.exit(None if get_api() else "GetPjrtApi() returned NULL")
"""
_SHOWN = 40  # lines of what a library said
_LOOKING = {"plugin.initialize", "client.create", "client.addressable_devices"}
_NOUN = r"(device|chip|card|board|accelerator|[gnt]pu)s?\b"
_NO_DEVICE = re.compile(
    rf"\b(no|zero|0)( [\w-]+){{0,2}} {_NOUN}( \w+)? (found|detected|available|present)"
    rf"|\b(no (visible|supported|available)|found (no|zero|0)|find any)( [\w-]+)? {_NOUN}"
    r"|device\S* not found|ERROR_NO_DEVICE|ErrorNoDevice",
    re.IGNORECASE,
)
_FATAL = re.compile(r"fatal|critical|check failed|assertion|what\(\)|error\b.*:", re.IGNORECASE)
_SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so|ld-linux")  # these lack no vendor's symbol


class ProbeOutcome(StrEnum):
    """What became of a library as a whole."""

    PASSED = "passed"
    NO_DEVICE = "no device"
    UNFIT = "unfit"
    NOT_OPENED = "not opened"
    FAILED = "failed"


class CheckResult(StrEnum):
    """What became of one check."""

    OK = "passed"
    UNSUPPORTED = "not supported"
    SKIP = "skipped"
    FAIL = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One check of pypjrt, such as `compile.serialize`."""

    name: str
    result: CheckResult
    detail: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What the checks showed about one library.

    Attributes:
        outcome: What became of it as a whole.
        reason: Why there is no better outcome; empty when all passed.
        pjrt_api: Version of its PJRT API, such as `0.115`; empty when it was not opened.
        platform: What its client calls itself; empty without a client.
        extensions: Names of its extensions, in the order of the chain.
        attributes: What it says of itself, as text, such as `13000` for `cuda_version`.
        checks: Every check that was begun, in order; the last one is that in which the library died, if it did.
        output: The end of what failed checks and the library said; empty if nothing failed.
    """

    outcome: ProbeOutcome
    reason: str = ""
    pjrt_api: str = ""
    platform: str = ""
    extensions: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    output: str = ""

    def summary(self) -> str:
        """Return one phrase, such as `passed: 52 passed, 4 not supported, 7 skipped`."""
        counts = Counter(check.result for check in self.checks)
        # Every failure is excused then; to call it one would mislead.
        names = {CheckResult.FAIL: "without the device"} if self.outcome is ProbeOutcome.NO_DEVICE else {}
        numbers = ", ".join(f"{counts[result]} {names.get(result, result)}" for result in CheckResult if counts[result])
        return ": ".join(part for part in (self.outcome.value, numbers, self.reason) if part)


def probe_plugin(
    library: Path,
    variables: Mapping[str, str],
    *,
    environ: Mapping[str, str] | None = None,
    device: bool = False,
    time_limit: float = _TIME_LIMIT,
) -> ProbeResult:
    """Run all checks on a library, where the libraries it needs are found: installed, or by `environ`.

    Args:
        library: The plugin library.
        variables: What its process's environment has in addition.
        environ: The process's environment; a clean one when absent.
        device: Whether the accelerator is known to be here, so that its absence is no excuse.
        time_limit: Seconds after which a library that hangs has failed.
    """
    command = [sys.executable, "-I", str(_INSIDE), str(library.resolve())]
    answer, end = ask_process(command, time_limit, environ=environ, variables=variables)
    found = judge(answer or {"checks": [], "begun": "start"}, end, device=device)
    if found.outcome is not ProbeOutcome.NOT_OPENED:
        return found
    return replace(found, reason=f"{found.reason}{_ask_linker(library, environ, variables)}")


def open_library(library: Path) -> str:
    """Say why a library does not open, as a plugin, in a process of its own; empty if it does."""
    command = [sys.executable, "-I", "-c", _OPEN, str(library.resolve())]
    end = run_process(command, _TIME_LIMIT, environ=os.environ)
    if end.status == 0:
        return ""
    reason = f"{end.describe()}: {end.last_line() or 'it left no output'}"
    return f"{reason}{_ask_linker(library, os.environ, {})}"


def judge(answer: Mapping[str, Any], end: Ended, *, device: bool) -> ProbeResult:
    """Turn what the process wrote into a result; attributes that are lists are versions, such as `1.22.0`."""
    if "refused" in answer:
        return ProbeResult(ProbeOutcome.NOT_OPENED, str(answer["refused"]))
    checks = [Check(entry["name"], CheckResult(entry["result"]), entry["detail"]) for entry in answer["checks"]]
    if died := answer["begun"] or (end.status != 0 and "close"):
        said = find_message(reversed(_tail(end.output)))
        checks.append(Check(died, CheckResult.FAIL, f"{end.describe()}: {said or 'it left no output'}"))
    failed = [check for check in checks if check.result is CheckResult.FAIL]
    passed = {check.name: check.detail for check in checks if check.result is CheckResult.OK}
    # Failures that only say that there is no device.
    absent = [check for check in failed if check.name in _LOOKING and _NO_DEVICE.search(check.detail)]
    excused = [] if device else absent
    outcome = ProbeOutcome.NO_DEVICE if excused else ProbeOutcome.PASSED
    if len(excused) < len(failed) or not checks:
        outcome = ProbeOutcome.FAILED
    blamed = [check for check in failed if check not in excused] or excused
    texts = [check.detail for check in blamed if "\n" in check.detail]
    return ProbeResult(
        outcome,
        "; ".join(f"{check.name}: {find_message(_tail(check.detail))}" for check in blamed),
        pjrt_api=".".join(map(str, answer.get("api_version", ()))),
        platform=passed.get("client.platform_name", ""),
        extensions=tuple(entry["name"] or f"type {entry['type']}" for entry in answer.get("extensions", ())),
        attributes={
            name: ".".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in answer.get("attributes", {}).items()
        },
        checks=tuple(checks),
        output="\n".join(_tail("\n".join([*texts, end.output]))) if outcome is ProbeOutcome.FAILED or died else "",
    )


def _tail(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()][-_SHOWN:]


def find_message(lines: Iterable[str]) -> str:
    """Return the line that says the most: that there is no device, what was fatal, or else the first one.

    >>> find_message(["info:", "TT_FATAL @ cluster.cpp:12: chips > 0", "No chips detected in the cluster"])
    'No chips detected in the cluster'
    """
    listed = list(lines)
    telling = (line for pattern in (_NO_DEVICE, _FATAL) for line in listed if pattern.search(line))
    return next(telling, listed[0] if listed else "")


def _ask_linker(library: Path, environ: Mapping[str, str] | None, variables: Mapping[str, str]) -> str:
    """Return, behind the first reason that a library does not open, all that it lacks, as ldd(1) lists it."""
    if shutil.which("ldd") is None:
        return ""
    text = run_process(["ldd", "-r", str(library.resolve())], _TIME_LIMIT, environ=environ, variables=variables).output
    missing = re.findall(r"^\s*(\S+) => not found", text, re.MULTILINE)
    undefined = re.findall(r"^undefined symbol: (\S+)", text, re.MULTILINE)
    needed = [name for name in re.findall(r"^\s*(\S+) => /", text, re.MULTILINE) if not _SYSTEM.match(name)]
    if missing:
        return f"; missing libraries: {fit(missing)}"
    where = f"none of {fit(needed)} has them" if needed else "it names no library that could have them"
    return f"; undefined symbols: {fit(undefined)}; {where}" if undefined else ""


def probe_file(file: Path, backends: Sequence[Backend], *, device: bool) -> ProbeResult:
    """Run the checks on a library, or on that of a wheel, whoever made it; those that need not open it come first.

    Raises:
        WheelError: The wheel is damaged, or does not hold one plugin library.
    """
    with tempfile.TemporaryDirectory(prefix="probe-") as scratch:
        library = _unpack(file, Path(scratch)) if file.suffix == ".whl" else file
        try:
            read_plugin(library, this_platform())
        except ElfError as error:
            return ProbeResult(ProbeOutcome.UNFIT, "; ".join(filter(None, (error.what, error.cause))))
        environment = next((backend.environment for backend in backends if backend.library == library.name), {})
        return probe_plugin(library, environment, environ=os.environ, device=device)


def read_plugin(library: Path, platform: Platform | None = None) -> Library:
    """Read a file that has to be a plugin for a platform, or for any that plugins are wrapped for.

    Raises:
        ElfError: It is none.
    """
    kind, needed = find_format(library, library.name), platform.binary_format if platform else BinaryFormat.ELF
    if kind is not needed:
        raise ElfError(f"{library.name} is no {needed} file", cause=f"it begins like a {kind} file")
    if kind is BinaryFormat.ELF:
        with library.open("rb") as file:
            read_image(file, library.name, machine=platform.machine if platform else None)
    found = read_library(library, library.name)
    if not found.is_plugin:
        what = f"{library.name} exports no {ENTRY_POINT}, but {fit(found.exports) or 'nothing'}"
        raise ElfError(what, cause="it is no PJRT plugin")
    return found


def _unpack(wheel: Path, target: Path) -> Path:
    """Unpack the libraries of a wheel, and return the plugin."""
    found = []
    for member in unpack_wheel(wheel, target, [], optional=["*.so", "*.so.*"]):
        with suppress(ElfError):
            if read_library(target / member, member).is_plugin:
                found.append(member)
    if len(found) != 1:
        raise WheelError(
            f"{wheel.name} holds {len(found)} plugin libraries, expected one",
            cause=f"found: {fit(found)}" if found else f"no library in it exports {ENTRY_POINT}",
            remedy="give the library itself",
        )
    return target / found[0]
