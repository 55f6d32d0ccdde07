# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the conformance checks of the `pypjrt` package on a plugin library: PJRT alone, without JAX.

The checks run in a process of their own, because a library under test may crash. What a plugin does not offer is no
failure. That there is no device is none either, where the backend's `probe.toml` names the check and its message.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pjrtwheel.probe.expected import NO_FACTS, ProbeFacts
from pjrtwheel.probe.process import Job, ask_plugin

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
        checks: Every check, in order.
    """

    outcome: ProbeOutcome
    reason: str = ""
    pjrt_api: str = ""
    platform: str = ""
    extensions: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()

    def summary(self) -> str:
        """Return one phrase, such as `passed: 52 pass, 4 unsupported, 7 skip`."""
        counts = Counter(check.result for check in self.checks)
        # Every failure is excused then; to call it one would mislead.
        names = {CheckResult.FAIL: "for want of the device"} if self.outcome is ProbeOutcome.NO_DEVICE else {}
        numbers = ", ".join(f"{counts[result]} {names.get(result, result)}" for result in CheckResult if counts[result])
        return ": ".join(part for part in (self.outcome.value, numbers, self.reason) if part)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        table = asdict(self)
        return {**table, "extensions": list(self.extensions), "checks": [asdict(check) for check in self.checks]}


def probe_plugin(
    library: Path,
    facts: ProbeFacts = NO_FACTS,
    *,
    environ: Mapping[str, str] | None = None,
    device: bool = False,
    time_limit: float = _TIME_LIMIT,
) -> ProbeResult:
    """Run all checks on a library.

    Args:
        library: The plugin library, where the libraries it needs are found: installed, or by `environ`.
        facts: What is to be expected of this backend.
        environ: The process's environment, to which the facts add; this one's when absent.
        device: Whether the accelerator is known to be here, so that its absence is no excuse.
        time_limit: Seconds after which a library that hangs has failed.

    Raises:
        ProofError: pypjrt is not installed.
    """
    variables = {**(os.environ if environ is None else environ), **facts.environment}
    answer = ask_plugin(library, Job.CHECK, environ=variables, time_limit=time_limit)
    return parse_answer(answer, facts, device=device)


def parse_answer(answer: Mapping[str, Any], facts: ProbeFacts, *, device: bool) -> ProbeResult:
    """Turn what the child process wrote into a result."""
    if "refused" in answer:
        return ProbeResult(ProbeOutcome.NOT_OPENED, str(answer["refused"]))
    if "broke" in answer:
        return ProbeResult(ProbeOutcome.FAILED, str(answer["broke"]))
    checks = tuple(Check(entry["id"], CheckResult(entry["result"]), entry["detail"]) for entry in answer["checks"])
    outcome, reason = _judge(checks, facts, device=device)
    return ProbeResult(
        outcome,
        reason,
        pjrt_api=".".join(map(str, answer["api_version"])),
        platform=answer["platform"],
        extensions=tuple(entry["name"] or f"type {entry['type']}" for entry in answer["extensions"]),
        checks=checks,
    )


def _judge(checks: tuple[Check, ...], facts: ProbeFacts, *, device: bool) -> tuple[ProbeOutcome, str]:
    """Return the outcome as a whole, and why it is no better."""
    failed = [check for check in checks if check.result is CheckResult.FAIL]
    excused = [check for check in failed if not device and facts.explains(check.name, check.detail)]
    unexcused = [check for check in failed if check not in excused]
    if unexcused or not checks:
        reasons = [f"{check.name}: {check.detail}" for check in unexcused] or ["no check ran"]
        return ProbeOutcome.FAILED, "; ".join(reasons)
    if excused:
        return ProbeOutcome.NO_DEVICE, "; ".join(f"{check.name}: {check.detail}" for check in excused)
    return ProbeOutcome.PASSED, ""
