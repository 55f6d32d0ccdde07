# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether JAX uses what belongs on a machine, and if not, why: the package is missing, or the release lacks it.

Which of JAX's platforms have hardware is what the vendors' rules say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jaxlib_select.apply.installer import release_of
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import CPU, Policy, PolicySource, from_arguments
from jaxlib_select.choose.resolve import reason_for, resolve
from jaxlib_select.choose.rules import Fit, Verdict, matching
from jaxlib_select.choose.vendors import find_judge, judge
from jaxlib_select.doctor.confirm import find_bad_flags
from jaxlib_select.doctor.installation import find_break, find_missing
from jaxlib_select.doctor.predict import ASKING, BUILT_IN, SERVES, Conditions, Prediction
from jaxlib_select.doctor.remedies import Examination, set_variable
from jaxlib_select.doctor.report import ERROR, NO_REMEDY, WARNING, Finding
from jaxlib_select.errors import SelectError
from jaxlib_select.facts import OURS, Backend, Facts
from jaxlib_select.installed.environment import Environment
from jaxlib_select.machine.model import NO_DEVICE, STUB, Machine, format_version
from jaxlib_select.names import belongings, normalize


@dataclass(frozen=True)
class Surroundings:
    """What an environment is judged by.

    Attributes:
        machine: The hardware.
        facts: What is known about the packages of the release.
        variables: Environment variables.
        decision: What should be installed on this machine; None if that could not be worked out.
        described: Whether the machine is one of a file: what plugins say about this one does not count then.
        root: Root of the file system.
        provider: Whose wheels commands are to install.
    """

    machine: Machine
    facts: Facts
    variables: Mapping[str, str] = field(default_factory=dict)
    decision: Decision | None = None
    described: bool = False
    root: Path = Path("/")
    provider: str = OURS


def decide(machine: Machine, backend: str, provider: str, release: str = "") -> Decision | None:
    """Return what to install for a backend on a machine, of one release or of all; None if there is nothing."""
    try:
        policy = Policy((from_arguments([backend]), PolicySource()), provider)
        return resolve(f"jax=={release}" if release else "jax", machine, policy)
    except SelectError:
        return None


def judge_choice(exam: Examination, around: Surroundings) -> Iterator[Finding]:
    """Compare what JAX will use with what should be used on a machine."""
    if is_silent_cpu(exam.prediction, around):
        yield from _cpu_finding(exam, around)
    yield from _other_backend(exam)
    yield from _absent_backend(exam, around)


def is_silent_cpu(prediction: Prediction, around: Surroundings) -> bool:
    """Return whether JAX would run on the CPU though there is an accelerator, and nobody asked for the CPU.

    An accelerator is one that a package serves, or one that nobody calls integrated, also without its driver.
    """
    served = around.decision is not None and around.decision.backend != "cpu"
    there = served or any(verdict.present for verdict in _judge_all(around))
    there = there or bool(other_devices(around.machine, around.facts.backends))
    return prediction.default == "cpu" and there and not any(map(around.variables.get, ASKING))


def _judge_all(around: Surroundings) -> list[Verdict]:
    return [judge(around.machine, backend) for backend in around.facts.backends if not backend.is_cpu]


def _cpu_finding(exam: Examination, around: Surroundings) -> Iterator[Finding]:
    """Say why JAX would silently run on the CPU."""
    seen = ", ".join(describe_hardware(around.machine, around.facts.backends)) or "an accelerator"
    decision = around.decision
    if decision is None or decision.backend == "cpu":
        # A driver, say, which no command of ours installs.
        lacks = next((f"{one.reason}: {one.advice}" for one in _judge_all(around) if one.present and one.advice), "")
        candidates = decision.candidates if decision is not None else ()
        reasons = [entry.reason for entry in candidates if not (entry.chosen or entry.absent)]
        because = f" ({'; '.join(reasons[:2])})" if reasons else ""
        what = f"JAX will run on the CPU: {lacks or f'no package serves {seen}{because}'}"
        remedy = () if lacks else (set_variable("JAX_PLATFORMS", "cpu"), "if that is meant")
        yield Finding(ERROR, "silent-cpu", what, *remedy)
        return
    installed = normalize(decision.package) in exam.environment.distributions
    idle = [entry for entry in exam.prediction.platforms if entry.outcome != SERVES]
    because = next((entry.reason for entry in idle if entry.reason and entry.provider == decision.package), "")
    state = "is installed, but JAX leaves it out" if installed else "is not installed"
    what = f"JAX will run on the CPU, though there is {seen}: {because or f'{decision.package} {state}'}"
    if not installed:
        remedy = exam.advise()
    elif not any(plugin.distribution == decision.package for plugin in exam.plugins):  # nothing announces it
        remedy = exam.reinstall(decision.package, exam.environment.version_of(decision.package))
    else:  # without a reason, another finding says why JAX leaves it out, and how to fix it
        remedy = exam.reinstall_parts(decision, belongings(decision.package)) if because else NO_REMEDY
    yield Finding(ERROR, "silent-cpu", what, *remedy)


def _other_backend(exam: Examination) -> Iterator[Finding]:
    """Say that another backend than the one for this machine is installed, and serves."""
    decision, default = exam.decision, exam.prediction.find(exam.prediction.default)
    if decision is None or default is None or default.platform == "cpu":
        return
    known = default.provider in {name for backend in exam.facts.backends for name in backend.distributions}
    if known and default.provider != decision.package and default.provider not in exam.surplus():
        what = f"{default.provider} serves, but {decision.package} is the one for this machine"
        yield Finding(WARNING, "other-backend", what, *exam.advise())


def _absent_backend(exam: Examination, around: Surroundings) -> Iterator[Finding]:
    """Say that the installed release has no package for an accelerator of this machine, and which one has."""
    decided = exam.decision is not None and exam.decision.backend != "cpu"
    if decided or exam.prediction.default != "cpu" or any(map(around.variables.get, ASKING)):
        return
    other = decide(around.machine, "auto", exam.provider)
    if (
        exam.decision is not None
        and other is not None
        and other.backend != CPU
        and release_of(other) != exam.facts.release
    ):
        reason = f"jax {exam.facts.release} {reason_for(exam.decision, other)}"
        what = f"JAX will run on the CPU: {reason}; the newest that fits is jax=={release_of(other)}"
        yield Finding(ERROR, "absent-backend", what, *replace(exam, decision=other).advise())


# The device nodes by which JAX decides whether to try `cuda` (`jax._src.hardware_utils`).
_NVIDIA_NODES = ("dev/nvidia0", "dev/nvidiactl", "dev/dxg")


def missing_hardware(machine: Machine, backends: Sequence[Backend]) -> dict[str, str]:
    """Return for each platform without hardware why there is none; platforms with hardware are missing."""
    reasons: dict[str, str] = {}
    there = {CPU}
    for backend in backends:
        vendor = backend.select.vendor if backend.select is not None else ""
        if (judge_vendor := find_judge(vendor)) is not None:
            verdict = judge_vendor(machine, backend)
            reasons[backend.family] = verdict.reason
            there |= {backend.family} if verdict.present or verdict.fit is not Fit.NONE else set()
    return {platform: reason for platform, reason in reasons.items() if platform not in there}


def unfit_packages(machine: Machine, backends: Sequence[Backend]) -> dict[str, str]:
    """Return for each distribution whose vendor's hardware is here why its programs do not run on it.

    A platform for which JAX needs no plugin has its own name here.
    """
    verdicts = [(backend, judge(machine, backend)) for backend in backends]
    return {
        name: verdict.reason
        for backend, verdict in verdicts
        if verdict.present and verdict.fit is Fit.NONE
        for name in (*backend.distributions, backend.family)
        if name != backend.family or name in BUILT_IN
    }


def describe_hardware(machine: Machine, backends: Sequence[Backend]) -> tuple[str, ...]:
    """Return one line for each kind of accelerator that was seen; which devices are accelerators, packages say."""
    devices = _served_devices(backends)
    lines = [_describe_nvidia(gpu.name, gpu.compute_capability) for gpu in machine.nvidia.gpus]
    lines = lines or [f"NVIDIA GPU {device}" for device in machine.nvidia.pci]
    lines += [f"AMD GPU {architecture}" for architecture in machine.amd.gpus]
    lines += [f"Intel GPU {device}" for device in matching(machine.intel.pci, devices)]
    lines += [f"TPU {device}" for device in matching(machine.tpu.pci, devices)]
    lines += other_devices(machine, backends)
    return tuple(line if count == 1 else f"{count} x {line}" for line, count in Counter(lines).items())


def other_devices(machine: Machine, backends: Sequence[Backend]) -> list[str]:
    """Return the accelerators in `Machine.others`, each after the key of its detector."""
    devices = _served_devices(backends)
    return [f"{key} {device}" for key, found in machine.others.items() for device in matching(found.pci, devices)]


def _served_devices(backends: Sequence[Backend]) -> list[str]:
    return [entry for backend in backends if backend.select is not None for entry in backend.select.devices]


def find_libtpu(environment: Environment, variables: Mapping[str, str]) -> Path | None:
    """Return the libtpu that JAX would open: the one of `TPU_LIBRARY_PATH`, else that of the package `libtpu`."""
    named = variables.get("TPU_LIBRARY_PATH")
    if named is not None and Path(named).is_file():
        return Path(named)
    return environment.find("libtpu/libtpu.so")


def conditions_of(environment: Environment, around: Surroundings) -> Conditions:
    """Return what JAX's behaviour depends on, aside from the plugins."""
    backends, nvidia = around.facts.backends, around.machine.nvidia
    return Conditions(
        variables=around.variables,
        broken=find_break(environment)[1] or find_missing(environment),
        described=around.described,
        no_hardware=missing_hardware(around.machine, backends),
        unfit=unfit_packages(around.machine, backends),
        nvidia_nodes=any((around.root / node).exists() for node in _NVIDIA_NODES),
        nvidia_driver=nvidia.libcuda != "absent" and nvidia.cuinit not in {NO_DEVICE, STUB},
        tpu_library=find_libtpu(environment, around.variables),
        flags=find_bad_flags(environment.python, around.variables),
    )


def _describe_nvidia(name: str | None, capability: tuple[int, int] | None) -> str:
    suffix = f", compute capability {format_version(capability)}" if capability is not None else ""
    return f"{name or 'NVIDIA GPU'}{suffix}"
