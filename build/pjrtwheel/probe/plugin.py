# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the conformance checks of the `pypjrt` package on a plugin library: PJRT alone, without JAX.

The checks run in a process of their own, because a library under test may crash. What a plugin does not offer is no
failure. That there is no device is none either, where the backend's `plugins/<name>/probe.toml` names the check and its
message.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from pjrtwheel import tables
from pjrtwheel.backend import Backend
from pjrtwheel.environment.processes import ask_process
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.fetch.unpack import unpack_wheel

_FILENAME = "probe.toml"


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """How one backend is probed.

    Attributes:
        environment: Variables the library needs in order not to search for its device for minutes.
        without_device: Check → what its message says when there is no device.
    """

    environment: Mapping[str, str] = tables.column(pattern="(?s).+", default_factory=dict)
    # An empty message would excuse every failure.
    without_device: Mapping[str, str] = tables.column(pattern="(?s).+", default_factory=dict)


DEFAULTS = ProbeSettings()


def find_settings(backend: Backend) -> Path | None:
    """Return the file of a backend's own directory, or of one that it shares; nothing if no such directory has one."""
    plugins = backend.path.parent.parent
    paths = (plugins / name / _FILENAME for name in (backend.name, *backend.shared))
    return next((path for path in paths if path.is_file()), None)


def load_settings(backend: Backend) -> ProbeSettings:
    """Read the settings of a backend; those of a backend without such a file say nothing.

    Raises:
        UsageError: The file is not TOML, has unknown keys, or values that are not strings, or empty ones.
    """
    path = find_settings(backend)
    try:
        return tables.read_toml(ProbeSettings, path.read_text("utf-8")) if path else DEFAULTS
    except tables.TableError as error:
        raise UsageError(f"malformed settings of the conformance checks: {path}", cause=str(error)) from error


_INSIDE = Path(__file__).with_name("inside.py")
_TIME_LIMIT = 300.0


class ProbeOutcome(StrEnum):
    """What became of a library as a whole."""

    PASSED = "passed"
    NO_DEVICE = "no device"
    NOT_OPENED = "not opened"
    FAILED = "failed"


class CheckResult(StrEnum):
    """What became of one check, in pypjrt's words."""

    OK = "pass"
    UNSUPPORTED = "unsupported"
    SKIP = "skip"
    FAIL = "fail"


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
        checks: Every check, in order.
    """

    outcome: ProbeOutcome
    reason: str = ""
    pjrt_api: str = ""
    platform: str = ""
    extensions: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()

    def summary(self) -> str:
        """Return one phrase, such as `passed: 52 pass, 4 unsupported, 7 skip`."""
        counts = Counter(check.result for check in self.checks)
        # Every failure is excused then; to call it one would mislead.
        names = {CheckResult.FAIL: "needs the device"} if self.outcome is ProbeOutcome.NO_DEVICE else {}
        numbers = ", ".join(f"{counts[result]} {names.get(result, result)}" for result in CheckResult if counts[result])
        return ": ".join(part for part in (self.outcome.value, numbers, self.reason) if part)


def probe_plugin(
    library: Path,
    settings: ProbeSettings = DEFAULTS,
    *,
    environ: Mapping[str, str] | None = None,
    device: bool = False,
    time_limit: float = _TIME_LIMIT,
) -> ProbeResult:
    """Run all checks on a library, where the libraries it needs are found: installed, or by `environ`.

    Args:
        library: The plugin library.
        settings: What is to be expected of this backend; they add to the environment.
        environ: The process's environment; a clean one when absent.
        device: Whether the accelerator is known to be here, so that its absence is no excuse.
        time_limit: Seconds after which a library that hangs has failed.
    """
    command = [sys.executable, "-I", str(_INSIDE), str(library.resolve())]
    answer, end = ask_process(command, time_limit, environ=environ, variables=settings.environment)
    if answer is None:
        last = f": {end.last_line() or 'it left no output'}" if end.status is not None else ""
        return ProbeResult(ProbeOutcome.FAILED, f"{end.describe()}{last}")
    return parse_answer(answer, settings, device=device)


def parse_answer(answer: Mapping[str, Any], settings: ProbeSettings, *, device: bool) -> ProbeResult:
    """Turn what the process wrote into a result; attributes that are lists are versions, such as `1.22.0`."""
    if "refused" in answer:
        return ProbeResult(ProbeOutcome.NOT_OPENED, str(answer["refused"]))
    checks = tuple(Check(entry["id"], CheckResult(entry["result"]), entry["detail"]) for entry in answer["checks"])
    outcome, reason = _judge(checks, settings, device=device)
    return ProbeResult(
        outcome,
        reason,
        pjrt_api=".".join(map(str, answer["api_version"])),
        platform=answer["platform"],
        extensions=tuple(entry["name"] or f"type {entry['type']}" for entry in answer["extensions"]),
        attributes={
            name: ".".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in answer["attributes"].items()
        },
        checks=checks,
    )


def _judge(checks: tuple[Check, ...], settings: ProbeSettings, *, device: bool) -> tuple[ProbeOutcome, str]:
    failed = [check for check in checks if check.result is CheckResult.FAIL]
    excuses = {} if device else settings.without_device
    excused = [check for check in failed if check.name in excuses and excuses[check.name] in check.detail]
    unexcused = [check for check in failed if check not in excused]
    if unexcused or not checks:
        reasons = [f"{check.name}: {check.detail}" for check in unexcused] or ["no check ran"]
        return ProbeOutcome.FAILED, "; ".join(reasons)
    if excused:
        return ProbeOutcome.NO_DEVICE, "; ".join(f"{check.name}: {check.detail}" for check in excused)
    return ProbeOutcome.PASSED, ""


def probe_file(file: Path, backends: Sequence[Backend], *, device: bool) -> ProbeResult:
    """Run the checks on a library, or on that of a wheel.

    Raises:
        WheelError: The wheel is damaged, or holds no library of any backend.
    """
    known = {backend.library: backend for backend in backends}
    with tempfile.TemporaryDirectory(prefix="probe-") as scratch:
        library = _unpack(file, Path(scratch), set(known)) if file.suffix == ".whl" else file
        backend = known.get(library.name)
        settings = load_settings(backend) if backend else DEFAULTS
        return probe_plugin(library, settings, environ=os.environ, device=device)


def _unpack(wheel: Path, target: Path, names: set[str]) -> Path:
    """Unpack the only member with one of these names, and the other libraries, which it may need."""
    members = unpack_wheel(wheel, target, [], optional=["*.so", "*.so.*"])
    found = [name for name in members if name.rsplit("/", 1)[-1] in names]
    if len(found) != 1:
        raise WheelError(
            f"{wheel.name} holds {len(found)} plugin libraries, expected one",
            cause=f"known names are {', '.join(sorted(names))}",
            remedy="give the library itself",
        )
    return target / found[0]
