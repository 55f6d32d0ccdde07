# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove a set of wheels on one Python: by the strongest means that this machine has."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment import venv as environment
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.probe.expected import load_facts
from pjrtwheel.probe.run import ProbeOutcome, probe_plugin
from pjrtwheel.prove import aot, smoke
from pjrtwheel.prove.devices import HOST, Devices, find_devices
from pjrtwheel.prove.judge import TargetProof, first_line
from pjrtwheel.prove.levels import Kind, Level, Outcome, ProgramResult, PythonProof
from pjrtwheel.prove.loading import find_installed, open_installed
from pjrtwheel.prove.material import Material
from pjrtwheel.prove.means import ask_completed, choose_means
from pjrtwheel.staging import staging_folder
from pjrtwheel.wheel.names import parse_name


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one Python showed.

    Attributes:
        python: All programs that ran.
        targets: Details of what was compiled ahead of time.
        api: Version of the plugin's PJRT API, as the installed library says.
    """

    python: PythonProof
    targets: tuple[TargetProof, ...] = ()
    api: str | None = None


def prove_python(
    tag: str,
    interpreter: Interpreter | None,
    wheels: Sequence[Path],
    material: Material,
    *,
    cache: Path,
    every_target: bool = True,
) -> Evidence:
    """Gather evidence in a fresh environment with the wheels installed by name.

    Args:
        tag: Tag of the Python.
        interpreter: That Python, if it is on this machine.
        wheels: The wheels of a set; those for other Pythons are left out.
        material: Programs and targets.
        cache: Root of the cache.
        every_target: Whether to compile for every target, where it comes to that; otherwise for the first alone, which
            shows that the wheels work together on this Python. The code that comes out does not depend on it.
    """
    if interpreter is None or not can_prove(wheels, tag):
        return untried(tag, interpreter)
    wheels = fitting(wheels, tag)
    print(f"proving on Python {interpreter.version}", file=sys.stderr, flush=True)
    house = environment.wheelhouse(interpreter, material.requirements, wheels, cache)
    with staging_folder(environment.scratch_place(cache)) as scratch:
        python = environment.create_venv(interpreter, scratch / "venv")
        ours = [parse_name(wheel.name).requirement for wheel in wheels]
        folders = {house, *(wheel.parent for wheel in wheels)}
        environment.install(python, [*material.requirements, *ours], folders)

        def complete() -> None:
            requirements = requirements_for(material, wheels, vendor=True)
            vendors = environment.wheelhouse(interpreter, requirements, wheels, cache)
            environment.install(python, requirements, {vendors, *folders})

        devices = ask_completed(lambda: ask_devices(python, material), complete)
        empty = PythonProof(tag, interpreter.version, ())
        return gather(empty, python, material, devices, every_target=every_target)


def untried(tag: str, interpreter: Interpreter | None) -> Evidence:
    """Return, as evidence, why nothing ran on a Python: it is not here, or there are no bindings for it."""
    if interpreter is None:
        return Evidence(PythonProof(tag, "", (), "no interpreter"))
    return Evidence(PythonProof(tag, interpreter.version, (), "no jaxlib wheel of this set"))


def ask_devices(python: Path, material: Material) -> Devices:
    """Return what JAX has for the plugin; bindings alone are asked for none."""
    return find_devices(python, material.backend) if material.backend else Devices(0)


def gather(
    empty: PythonProof, python: Path, material: Material, devices: Devices, *, every_target: bool = True
) -> Evidence:
    """Gather evidence in an environment that is ready: on a device, else ahead of time, else by opening the library."""
    backend = material.backend
    if backend is None:
        return Evidence(_with(empty, smoke.run_programs(python, material.smoke, None)))
    opened = open_installed(python, backend)
    means = choose_means(backend.name, devices, opened, targets=bool(material.targets))
    if means.failure:
        failed = ProgramResult("start", Outcome.FAILED, Level.STATIC, 0.0, means.failure, Kind.CHECK)
        return Evidence(_with(empty, (failed,), means.missed), (), opened.api)
    checks = (_check_conformance(python, backend, device=bool(devices.count)),) if opened.api else ()
    if means.level is Level.DEVICE:
        # An accelerator may belong to one process at a time.
        results = smoke.run_programs(python, material.smoke, backend, jobs=0 if backend.pjrt_name == HOST else 1)
        return Evidence(_with(empty, (*results, *checks)), (), opened.api)
    if means.level is Level.AOT:
        proofs = aot.compile_for_targets(
            python, material.targets if every_target else material.targets[:1], material.aot, backend
        )
        results = tuple(summarize_target(proof) for proof in proofs)
        return Evidence(_with(empty, (*results, *checks), means.missed), proofs, opened.api)
    if means.level is Level.STATIC:
        return Evidence(_with(empty, (), means.missed))
    result = ProgramResult(
        "open", Outcome.PASSED, Level.LOAD, 0.0, f"PJRT C API {opened.api} from {backend.library_member}", Kind.CHECK
    )
    return Evidence(_with(empty, (result, *checks), means.missed), (), opened.api)


def _check_conformance(python: Path, backend: Backend, *, device: bool) -> ProgramResult:
    """Run PJRT's conformance checks on the installed library; without JAX they show no more than that it loads.

    Without the device most checks cannot run; that is no failure where the backend's facts say what it looks like.
    """
    start = time.monotonic()
    library = find_installed(python, backend)
    result = probe_plugin(library, load_facts(backend), environ=environment.clean_environ(), device=device)
    outcome = {ProbeOutcome.FAILED: Outcome.FAILED, ProbeOutcome.NOT_OPENED: Outcome.NOT_RUN}
    seconds = round(time.monotonic() - start, 1)
    return ProgramResult(
        "conformance", outcome.get(result.outcome, Outcome.PASSED), Level.LOAD, seconds, result.summary(), Kind.CHECK
    )


def summarize_target(proof: TargetProof) -> ProgramResult:
    """Return the proof of a target as one result; what fails as expected shows nothing about the wheel."""
    failures = [
        f"{failed.compilation.program or 'starting'} ({failed.compilation.topology}): {first_line(failed.detail)}"
        for failed in proof.failures()
    ]
    return ProgramResult(
        program=f"aot {proof.name}",
        outcome=Outcome.FAILED if failures else Outcome.PASSED if proof.compiled else Outcome.EXPECTED,
        level=Level.AOT if proof.compiled else Level.STATIC,
        seconds=proof.seconds,
        detail="\n".join(failures) or proof.summarize(),
        kind=Kind.TARGET,
    )


def requirements_for(material: Material, wheels: Sequence[Path], *, vendor: bool) -> list[str]:
    """Return what to install by name; the plugin with the extra that brings the vendor's libraries, if asked for.

    Args:
        material: What is installed beside the wheels.
        wheels: The wheels that fit the Python.
        vendor: Whether the vendor's libraries come as wheels; otherwise the machine has them.
    """
    backend = material.backend
    extras = next(filter(None, backend.jaxlib_extras.values()), ()) if backend and vendor else ()
    ours = []
    for wheel in wheels:
        name = parse_name(wheel.name)
        wanted = f"[{','.join(extras)}]" if extras and backend and name.distribution == backend.distribution else ""
        ours.append(f"{name.distribution}{wanted}=={name.version}")
    # What compiling without the accelerator needs is not for those who have it.
    beside = [item for item in material.requirements if not backend or item not in backend.aot_requires]
    return [*beside, *ours]


def fitting(wheels: Sequence[Path], tag: str) -> list[Path]:
    """Return the wheels that are for a Python."""
    return [wheel for wheel in wheels if parse_name(wheel.name).fits(tag)]


def can_prove(wheels: Sequence[Path], tag: str) -> bool:
    """Tell whether there is a `jaxlib` for a Python among some wheels."""
    return has_bindings(fitting(wheels, tag))


def has_bindings(wheels: Sequence[Path]) -> bool:
    """Tell whether `jaxlib` itself is among some wheels."""
    return any(wheel.name.startswith("jaxlib-") for wheel in wheels)


def _with(empty: PythonProof, results: Sequence[ProgramResult], missed: tuple[str, ...] = ()) -> PythonProof:
    reason = "" if results else missed[-1]
    return PythonProof(empty.python, empty.interpreter, tuple(results), reason, missed)
