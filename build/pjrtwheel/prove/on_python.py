# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove a set of wheels on one Python, at the highest level that this machine can show."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import create_environment, install, scratch_place, wheelhouse
from pjrtwheel.files import staging_folder
from pjrtwheel.platforms import host_platform
from pjrtwheel.probe.plugin import ProbeOutcome, load_settings, probe_plugin
from pjrtwheel.progress import LINES, Progress
from pjrtwheel.prove import aot, smoke
from pjrtwheel.prove.devices import (
    Devices,
    Opened,
    ask_completed,
    choose_level,
    find_devices,
    find_installed,
    find_machine,
    open_library,
    require_installed,
)
from pjrtwheel.prove.inputs import ProofInputs, choose_targets
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, ProofMachine, PythonProof, ResultKind, TargetProof
from pjrtwheel.wheel.names import parse_name


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one Python showed: programs, code compiled ahead of time, whether the library opened; and the machine."""

    python: PythonProof
    targets: tuple[TargetProof, ...] = ()
    opened: Opened = Opened(None)  # noqa: RUF009  # frozen
    machine: ProofMachine | None = None


def prove_python(
    tag: str,
    interpreter: Interpreter | None,
    wheels: Sequence[Path],
    inputs: ProofInputs,
    *,
    cache: Path,
    every_target: bool = True,
    progress: Progress = LINES,
) -> Evidence:
    """Gather evidence on a Python, if it is on this machine, with the wheels of a set that fit installed by name.

    Unless it is to compile for `every_target`, it does for the first alone, which shows that the wheels work together.
    The code that comes out does not depend on the Python.
    """
    if interpreter is None or not can_prove(wheels, tag):
        return untried(tag, interpreter)
    wheels = fitting(wheels, tag)
    with staging_folder(scratch_place(cache)) as scratch:
        with progress.step(f"environment with Python {interpreter.version}"):
            python = create_environment(
                interpreter, inputs.all_requirements, wheels, target=scratch / "venv", cache=cache
            )

        def complete() -> None:
            requirements = requirements_for(inputs, wheels, vendor=True)
            folder = wheelhouse(interpreter, requirements, wheels, cache)
            install(python, requirements, {folder, *(wheel.parent for wheel in wheels)})

        # Bindings alone are asked for no devices.
        backend = inputs.backend
        devices = ask_completed(lambda: find_devices(python, backend), complete) if backend else Devices(0)
        empty = PythonProof(tag, interpreter.version, (), emulated=interpreter.emulated)
        return gather(empty, python, inputs, devices, every_target=every_target, progress=progress)


def prove_unpacked(interpreter: Interpreter, wheels: Sequence[Path], inputs: ProofInputs) -> Evidence:
    """Gather evidence in an environment that was made elsewhere, whose own Python is `interpreter`.

    That is for machines on which pip does not run, or takes long, such as an emulated one.

    Raises:
        ProofError: Other wheels are installed there, or none.
    """
    wheels = fitting(wheels, interpreter.tag)
    require_installed(interpreter.path, wheels)
    backend = inputs.backend
    devices = find_devices(interpreter.path, backend) if backend else Devices(0)
    empty = PythonProof(interpreter.tag, interpreter.version, (), emulated=interpreter.emulated)
    return gather(empty, interpreter.path, inputs, devices)


def untried(tag: str, interpreter: Interpreter | None) -> Evidence:
    """Return, as evidence, why nothing ran on a Python: it is not here, or there are no bindings for it."""
    if interpreter is None:
        return Evidence(PythonProof(tag, "", (), "no interpreter"))
    return Evidence(PythonProof(tag, interpreter.version, (), "no jaxlib wheel of this set"))


def gather(
    empty: PythonProof,
    python: Path,
    inputs: ProofInputs,
    devices: Devices,
    *,
    every_target: bool = True,
    progress: Progress = LINES,
) -> Evidence:
    """Gather evidence in an environment that is ready: on a device, else ahead of time, else by opening the library."""
    backend, title = inputs.backend, f"programs on Python {empty.interpreter}"
    machine = find_machine(python, backend, devices)
    if backend is None:
        return Evidence(
            _with(empty, smoke.run_programs(python, inputs.smoke, None, title=title, progress=progress)),
            machine=machine,
        )
    opened = open_library(python, find_installed(python, backend))
    chips = choose_targets(inputs.targets, host_platform().name, emulated=empty.emulated)
    plan = choose_level(backend.name, devices, opened, targets=bool(chips))
    if plan.failure:
        failed = ProgramResult("start", Outcome.FAILED, Level.STATIC, 0.0, plan.failure, ResultKind.CHECK)
        return Evidence(_with(empty, (failed,), plan.missed), (), opened)
    results: tuple[ProgramResult, ...] = ()
    targets: tuple[TargetProof, ...] = ()
    match plan.level:
        case Level.DEVICE:
            # An accelerator may belong to one process at a time.
            jobs = 0 if backend.is_cpu else 1
            results = smoke.run_programs(python, inputs.smoke, backend, jobs=jobs, title=title, progress=progress)
        case Level.AOT:
            chosen = chips if every_target else chips[:1]
            targets = aot.compile_for_targets(python, chosen, inputs.aot, backend, progress)
            results = tuple(map(aot.summarize_target, targets))
        case Level.LOAD:
            detail = f"PJRT C API {opened.api} from {backend.library_member}"
            results = (ProgramResult("open", Outcome.PASSED, Level.LOAD, 0.0, detail, ResultKind.CHECK),)
    if opened.api:
        conformance, attributes = _check_conformance(python, backend, device=bool(devices.count))
        results, opened = (*results, conformance), replace(opened, attributes=attributes)
    return Evidence(_with(empty, results, plan.missed), targets, opened, machine)


def _check_conformance(python: Path, backend: Backend, *, device: bool) -> tuple[ProgramResult, Mapping[str, str]]:
    """Run PJRT's conformance checks on the installed library; without JAX they show no more than that it loads.

    The attributes of the library come along. Without the device most checks cannot run; that is no failure where the
    backend's `probe.toml` has its message.
    """
    start = time.monotonic()
    library = find_installed(python, backend)
    result = probe_plugin(library, load_settings(backend), environ=clean_environ(), device=device)
    outcome = {ProbeOutcome.FAILED: Outcome.FAILED, ProbeOutcome.NOT_OPENED: Outcome.NOT_RUN}
    seconds = round(time.monotonic() - start, 1)
    check = ProgramResult(
        "conformance",
        outcome.get(result.outcome, Outcome.PASSED),
        Level.LOAD,
        seconds,
        result.summary(),
        ResultKind.CHECK,
    )
    return check, result.attributes


def requirements_for(inputs: ProofInputs, wheels: Sequence[Path], *, vendor: bool) -> list[str]:
    """Return what to install by name; the plugin with the extra that brings the vendor's libraries, if asked for.

    Without the vendor's libraries as wheels the machine has them.
    """
    backend = inputs.backend
    extras = next(filter(None, backend.jaxlib_extras.values()), ()) if backend and vendor else ()
    ours = []
    for wheel in wheels:
        name = parse_name(wheel.name)
        extra = f"[{','.join(extras)}]" if extras and backend and name.distribution == backend.distribution else ""
        ours.append(f"{name.distribution}{extra}=={name.version}")
    return [*inputs.requirements, *ours]


def fitting(wheels: Sequence[Path], tag: str) -> list[Path]:
    """Return the wheels that are for a Python."""
    return [wheel for wheel in wheels if parse_name(wheel.name).fits(tag)]


def can_prove(wheels: Sequence[Path], tag: str) -> bool:
    """Return whether there is a `jaxlib` for a Python among some wheels."""
    return any(parse_name(wheel.name).distribution == "jaxlib" for wheel in fitting(wheels, tag))


def _with(empty: PythonProof, results: Sequence[ProgramResult], missed: tuple[str, ...] = ()) -> PythonProof:
    return replace(empty, results=tuple(results), reason="" if results else missed[-1], missed=missed)
