# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove a set of wheels on one Python, at the highest level that this machine can show.

Smoke programs run each in a process of its own.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import ask_process, run_all
from pjrtwheel.environment.venv import (
    create_environment,
    install_wheels,
    require_installed,
    scratch_place,
    site_packages,
)
from pjrtwheel.files import staging_folder
from pjrtwheel.platforms import host_platform
from pjrtwheel.probe.plugin import ProbeOutcome, ProbeResult, probe_plugin
from pjrtwheel.progress import LINES, Progress
from pjrtwheel.prove import aot
from pjrtwheel.prove.devices import NOTHING_OPENED, Devices, choose_level, find_devices, find_machine, require_device
from pjrtwheel.prove.inputs import ProofInputs, choose_targets
from pjrtwheel.prove.inside import smoke as inside
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, ProofMachine, PythonProof, ResultKind, TargetProof
from pjrtwheel.wheel.names import parse_name

TIME_LIMIT = 300.0
# References are in float64: accelerators must not round to fewer bits than asked for. And several programs share one.
_VARIABLES = {"JAX_DEFAULT_MATMUL_PRECISION": "highest", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def run_programs(
    python: Path,
    programs: Sequence[Path],
    backend: Backend | None,
    *,
    jobs: int = 0,
    title: str = "programs",
    progress: Progress = LINES,
) -> tuple[ProgramResult, ...]:
    """Run every program in the environment of `python`, on the plugin of a backend, or on any client without one.

    Without `jobs` as many run at once as there are cores, at most four. The `title` is that of the step which shows
    them.
    """
    with progress.step(title, len(programs)) as step:

        def run(program: Path) -> ProgramResult:
            with step.item(program.stem):
                return judge(run_program(python, program, backend), backend)

        return run_all(run, programs, jobs or min(4, os.cpu_count() or 1))


def run_program(python: Path, program: Path, backend: Backend | None, *, seconds: float = TIME_LIMIT) -> ProgramResult:
    """Run one program from an empty directory, in Python's isolated mode, within a time limit."""
    plugin = [json.dumps({"name": backend.pjrt_name, "library": backend.library_member})] if backend else []
    command = [str(python), "-I", "-X", "faulthandler", inside.__file__, str(program.resolve()), *plugin]
    started = time.monotonic()
    answer, end = ask_process(command, seconds, variables=_VARIABLES)
    elapsed = round(time.monotonic() - started, 2)
    if answer is None:
        return ProgramResult(program.stem, Outcome.FAILED, Level.DEVICE, elapsed, end.explain())
    outcome, level, detail = Outcome(answer["outcome"]), Level(answer["level"]), answer["detail"].strip()
    if outcome is Outcome.PASSED and end.status != 0:
        # The program was right, but its process did not end in order: a crash at exit is a failure as well.
        outcome, detail = Outcome.FAILED, end.explain()
    return ProgramResult(program.stem, outcome, level, elapsed, detail)


def judge(result: ProgramResult, backend: Backend | None) -> ProgramResult:
    """Return a result with what the backend's file declares of the program: that it fails, with a certain error."""
    failure = backend.smoke.fails.get(result.program) if backend else None
    if failure is None or result.outcome is Outcome.NOT_RUN:
        return result
    fault = failure.describe_fault(result.detail if result.outcome is Outcome.FAILED else "")
    if not fault:
        return replace(result, outcome=Outcome.EXPECTED, detail=failure.reason)
    where = f"[smoke.fails.{result.program}] of backend.toml: {fault}"
    return replace(result, outcome=Outcome.FAILED, detail=f"{result.detail}\n{where}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one Python showed: programs, code compiled ahead of time, whether the library opened; and the machine."""

    python: PythonProof
    targets: tuple[TargetProof, ...] = ()
    opened: ProbeResult = NOTHING_OPENED
    machine: ProofMachine | None = None


def prove_python(
    tag: str,
    interpreter: Interpreter | None,
    wheels: Sequence[Path],
    inputs: ProofInputs,
    *,
    cache: Path,
    every_target: bool = True,
    on_device: bool = False,
    progress: Progress = LINES,
) -> Evidence:
    """Gather evidence on a Python, if it is on this machine, with the wheels of a set that fit installed by name.

    Unless it is to compile for `every_target`, it does for the first alone, which shows that the wheels work together.
    The code that comes out does not depend on the Python. What wheels need comes from the package index, whose answer
    is kept in the cache.

    Raises:
        ProofError: The wheels do not install, or others in their place, or it is to be shown `on_device`, and there is
            none for the plugin here.
    """
    if interpreter is None or not can_prove(wheels, tag):
        return untried(tag, interpreter)
    wheels, backend = fitting(wheels, tag), inputs.backend
    needed = inputs.requirements if on_device and not interpreter.emulated else inputs.all_requirements
    with staging_folder(scratch_place(cache)) as scratch:
        with progress.step(f"environment with Python {interpreter.version}"):
            python = create_environment(interpreter, needed, wheels, target=scratch / "venv", cache=cache)
        devices = find_devices(python, backend)
        if devices.lacks_vendor_library:
            install_wheels(python, interpreter, device_requirements(inputs, wheels), wheels, cache)
            devices = find_devices(python, backend)
        if on_device and backend:
            require_device(devices, backend, emulated=interpreter.emulated)
        return gather(interpreter, python, inputs, devices, every_target=every_target, progress=progress)


def prove_unpacked(interpreter: Interpreter, wheels: Sequence[Path], inputs: ProofInputs) -> Evidence:
    """Gather evidence in an environment that was made elsewhere, whose own Python is `interpreter`.

    That is for machines on which pip does not run, or takes long, such as an emulated one.

    Raises:
        ProofError: Other wheels are installed there, or none.
    """
    require_installed(interpreter.path, fitting(wheels, interpreter.tag))
    return gather(interpreter, interpreter.path, inputs, find_devices(interpreter.path, inputs.backend))


def untried(tag: str, interpreter: Interpreter | None) -> Evidence:
    """Return, as evidence, why nothing ran on a Python: it is not here, or the set is not for it."""
    if interpreter is None:
        return Evidence(PythonProof(tag, "", (), "no interpreter"))
    return Evidence(PythonProof(tag, interpreter.version, (), "no jaxlib wheel of this set, or no kernels"))


def gather(
    interpreter: Interpreter,
    python: Path,
    inputs: ProofInputs,
    devices: Devices,
    *,
    every_target: bool = True,
    progress: Progress = LINES,
) -> Evidence:
    """Gather evidence in an environment that is ready: on a device, else ahead of time, else by opening the library."""
    backend, title = inputs.backend, f"programs on Python {interpreter.version}"
    empty = PythonProof(interpreter.tag, interpreter.version, (), emulated=interpreter.emulated)
    machine = find_machine(python, backend, devices)
    if backend is None:
        shown = run_programs(python, inputs.smoke, None, title=title, progress=progress)
        return Evidence(_with(empty, shown), machine=machine)
    start = time.monotonic()
    device, library = bool(devices.count), site_packages(python) / backend.library_member
    opened = probe_plugin(library, backend.environment, device=device)
    checks = _conformance(opened, round(time.monotonic() - start, 1))
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
            results = run_programs(python, inputs.smoke, backend, jobs=jobs, title=title, progress=progress)
        case Level.AOT:
            chosen = chips if every_target else chips[:1]
            targets = aot.compile_for_targets(python, chosen, inputs.aot, backend, progress)
            results = tuple(map(aot.summarize_target, targets))
        case Level.LOAD:
            detail = f"PJRT C API {opened.pjrt_api} from {backend.library_member}"
            results = (ProgramResult("open", Outcome.PASSED, Level.LOAD, 0.0, detail, ResultKind.CHECK),)
    return Evidence(_with(empty, (*results, *checks), plan.missed), targets, opened, machine)


def _conformance(found: ProbeResult, seconds: float) -> tuple[ProgramResult, ...]:
    """Return what PJRT's conformance checks showed of an installed library; nothing of one that does not open.

    Without JAX they show no more than that it loads. Without the device most checks cannot run; that is no failure
    where the library says so.
    """
    if found.outcome is ProbeOutcome.NOT_OPENED:
        return ()
    outcome = Outcome.FAILED if found.outcome is ProbeOutcome.FAILED else Outcome.PASSED
    return (ProgramResult("conformance", outcome, Level.LOAD, seconds, found.summary(), ResultKind.CHECK),)


def device_requirements(inputs: ProofInputs, wheels: Sequence[Path]) -> list[str]:
    """Return what programs on a device need in addition to the wheels: the plugin's extra with the vendor's libraries.

    Where there is no such extra, the machine has these libraries.
    """
    backend = inputs.backend
    if backend is None:
        return list(inputs.requirements)
    names = [parse_name(wheel.name) for wheel in wheels]
    plugins = [name for name in names if name.distribution == backend.distribution != backend.requirement]
    return [*inputs.requirements, *(f"{backend.requirement}=={name.version}" for name in plugins)]


def fitting(wheels: Sequence[Path], tag: str) -> list[Path]:
    """Return the wheels that are for a Python."""
    return [wheel for wheel in wheels if parse_name(wheel.name).fits(tag)]


def can_prove(wheels: Sequence[Path], tag: str) -> bool:
    """Return whether each project of a set, `jaxlib` among them, has a wheel for a Python."""
    here = {parse_name(wheel.name).distribution for wheel in fitting(wheels, tag)}
    return "jaxlib" in here and here == {parse_name(wheel.name).distribution for wheel in wheels}


def _with(empty: PythonProof, results: Sequence[ProgramResult], missed: tuple[str, ...] = ()) -> PythonProof:
    return replace(empty, results=tuple(results), reason="" if results else missed[-1], missed=missed)
