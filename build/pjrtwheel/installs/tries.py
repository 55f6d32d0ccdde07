# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which installations of a set there are, and what became of each.

Each has a clean environment, into which JAX and a backend are installed by name, and in which JAX is started.
"""

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pjrtwheel.abis import name_python
from pjrtwheel.backend import Backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import Ended, run_process
from pjrtwheel.environment.venv import (
    create_venv,
    find_uv,
    last_lines,
    pip_command,
    require_installed,
    run_tool,
    scratch_place,
)
from pjrtwheel.errors import PjrtWheelError, ProofError
from pjrtwheel.files import staging_folder
from pjrtwheel.grouping import group
from pjrtwheel.installs.stage import Stage, StagedSet, fetch_wheel
from pjrtwheel.prove.devices import parse_answer
from pjrtwheel.prove.inside import devices as inside
from pjrtwheel.sets import AUTO, BINDINGS, SELECTOR

INSTALLERS = ("pip", "uv")
_SECONDS = 180.0
_SHOWN = 110  # characters of a line of an installer
_DEFAULT_DEVICES = "import jax; print(jax.devices()[0].platform)"


class InstallOutcome(StrEnum):
    """What became of a combination."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Combination:
    """One way to install a backend.

    Attributes:
        python: ABI tag of the Python, such as `cp312`.
        backend: Name of the backend.
        extra: Extra of `jaxlib` that is asked for, such as `cuda13` or `cuda13-local`.
        installer: `pip` or `uv`.
        vendor: Whether that brings the vendor's libraries as wheels; otherwise they are the machine's, if any.
    """

    python: str
    backend: str
    extra: str
    installer: str
    vendor: bool

    def describe(self) -> str:
        """Return it in words.

        >>> Combination("cp312", "abacus", "abacus", "uv", vendor=False).describe()
        'Python 3.12, jaxlib[abacus], uv'
        """
        return f"Python {name_python(self.python)}, jaxlib[{self.extra}], {self.installer}"


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What one combination showed.

    Attributes:
        combination: Which one.
        outcome: What became of it.
        detail: The devices, or why there are none; why it failed or was skipped.
        wheels: File names of the wheels of the set that were installed.
    """

    combination: Combination
    outcome: InstallOutcome
    detail: str
    wheels: tuple[str, ...] = ()


def list_combinations(
    pythons: Iterable[str], backends: Iterable[Backend], installers: Collection[str]
) -> Iterator[Combination]:
    """Yield every combination; what the vendor's libraries are is in each backend's extras."""
    for python, backend in itertools.product(pythons, backends):
        for extra, extras in backend.jaxlib_extras.items():
            vendor = bool(extras) or not backend.prebuilt.bundled
            for installer in installers:
                yield Combination(python, backend.name, extra, installer, vendor)


def why_skipped(
    combination: Combination,
    staged: StagedSet,
    distributions: Iterable[str],
    interpreter: Interpreter | None,
    *,
    vendor_wheels: bool,
) -> str:
    """Return why a combination cannot be tried here; nothing if it can."""
    if not all(staged.find(distribution, combination.python) for distribution in distributions):
        return "not at the stage"
    if interpreter is None:
        return "no such Python on this machine"
    return "not downloaded without --vendor-wheels" if combination.vendor and not vendor_wheels else ""


def describe_skips(results: Iterable[InstallResult]) -> Iterator[str]:
    """Yield a line for each reason: how many combinations were skipped for it, and which."""
    skipped = (result for result in results if result.outcome is InstallOutcome.SKIPPED)
    for reason, alike in group((result.detail, result.combination) for result in skipped).items():
        extras = dict.fromkeys(one.extra for one in alike)
        pythons = dict.fromkeys(name_python(one.python) for one in alike)
        yield f"skipped {len(alike):>2}, {reason}: {', '.join(extras)} on Python {', '.join(pythons)}"


def sum_up(results: Iterable[InstallResult]) -> str:
    """Return how many combinations passed, failed and were skipped."""
    outcomes = [result.outcome for result in results]
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in InstallOutcome)


def try_install(
    combination: Combination,
    backend: Backend,
    stage: Stage,
    staged: StagedSet,
    interpreter: Interpreter,
    *,
    cache: Path,
) -> InstallResult:
    """Install one combination into a fresh environment, and start JAX there; a failure is a result, not an error.

    What the stage has of `jaxlib-select` is installed with it, and of `jaxlib-auto` with the backend that its plain
    wheel asks for.
    """
    selector = [SELECTOR] if staged.find(SELECTOR, combination.python) else []
    auto = [AUTO] if backend.is_cpu and staged.find(AUTO, combination.python) else []
    projects = (BINDINGS, *backend.distributions, *selector, *auto)
    names = [staged.find(project, combination.python) for project in projects]
    chosen = [name for name in names if name]
    try:
        with staging_folder(scratch_place(cache)) as scratch:
            python = create_venv(interpreter, scratch / "venv")
            requirements = [f"jax=={staged.release}", f"{BINDINGS}[{combination.extra}]=={staged.version}", *selector]
            requirements += [f"{name}=={staged.version}" for name in auto]
            run_installer(combination.installer, install_command(combination.installer, stage, python, requirements))
            require_installed(python, [fetch_wheel(stage, name, staged.wheels[name], cache) for name in chosen])
            detail = start_jax(python, backend, staged.version)
            if selector:
                _ask("jaxlib-select doctor", [str(python), "-I", "-m", "jaxlib_select", "doctor"], statuses=(0, 1))
        outcome = InstallOutcome.PASSED
    except PjrtWheelError as error:
        outcome, detail = InstallOutcome.FAILED, str(error)
    wheels = tuple(staged.wheels[name].filename for name in chosen)
    return InstallResult(combination, outcome, detail, wheels)


def try_all(
    combinations: Iterable[Combination],
    backends: Mapping[str, Backend],
    stage: Stage,
    staged: StagedSet,
    interpreters: Mapping[str, Interpreter | None],
    *,
    vendor_wheels: bool,
    cache: Path,
) -> Iterator[InstallResult]:
    """Yield what became of each combination, one after the other; those that cannot be tried here are skipped."""
    for combination in combinations:
        backend, interpreter = backends[combination.backend], interpreters[combination.python]
        reason = why_skipped(combination, staged, backend.distributions, interpreter, vendor_wheels=vendor_wheels)
        if interpreter and not reason:
            yield try_install(combination, backend, stage, staged, interpreter, cache=cache)
        else:
            yield InstallResult(combination, InstallOutcome.SKIPPED, reason)


def install_command(installer: str, stage: Stage, python: Path, requirements: Sequence[str]) -> list[str]:
    """Return the command that a user would type, for another environment; a folder of wheels has no JAX."""
    if installer == "pip":
        place = f"--index-url={stage.url}" if stage.url else f"--find-links={stage.where}"
        return [*pip_command(python), "install", "--quiet", "--only-binary=:all:", place, *requirements]
    place = f"--default-index={stage.url}" if stage.url else f"--find-links={stage.where}"
    # uv's cache knows a wheel by its address alone, and a stage may have had another one there.
    fresh = [f"--refresh-package={requirement.partition('[')[0].partition('=')[0]}" for requirement in requirements]
    return [str(find_uv()), "pip", "install", "--quiet", "--python", str(python), *fresh, place, *requirements]


def start_jax(python: Path, backend: Backend, version: str) -> str:
    """Ask JAX for its devices, and the plugin whether it fits; return what devices there are, or why there are none.

    Raises:
        ProofError: JAX does not start, the plugin does not fit or has another version, or has no device without one of
            its reasons.
    """
    answer = parse_answer(
        _ask("jax.devices", [str(python), "-I", inside.__file__, backend.pjrt_name]).output, backend.distribution
    )
    if not answer.count and (backend.is_cpu or not answer.excused):
        raise ProofError(f"JAX has no device {backend.pjrt_name!r}", cause=answer.reason)
    default = _ask("import jax", [str(python), "-I", "-c", _DEFAULT_DEVICES]).last_line()
    command = [str(python), "-I", "-m", backend.package, "--json"]
    # Without the accelerator the vendor's libraries may be missing as well, which the plugin then says.
    statuses = (0,) if answer.count else (0, 1)
    _check_report(_ask(f"python -m {backend.package}", command, statuses).output, backend, version)
    found = f"{answer.count} x {answer.kind}" if answer.count else answer.reason
    return f"{found}; default {default}"


def _check_report(output: str, backend: Backend, version: str) -> None:
    """Compare what a plugin says of itself with what was installed."""
    try:
        said = json.loads(output)
        found = (said["distribution"], said["version"], said["jaxlib"]["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise ProofError(f"python -m {backend.package} --json did not answer", cause=last_lines(output)) from error
    if found != (backend.distribution, version, version):
        raise ProofError(f"python -m {backend.package} found {found}", cause=f"expected {version} of both")


def run_installer(name: str, command: Sequence[str]) -> None:
    """Run pip or uv.

    Raises:
        ProofError: It failed; of what it printed the last lines are said, without their ends: pip lists all versions.
    """
    result = run_tool(command)
    if result.returncode != 0:
        said = last_lines(result.stderr).splitlines()
        raise ProofError(f"{name} does not install it", cause="\n".join(line[:_SHOWN] for line in said))


def _ask(what: str, command: Sequence[str], statuses: Sequence[int] = (0,)) -> Ended:
    """Run a program in an empty folder; it must end well, and show no traceback."""
    end = run_process(command, _SECONDS)
    if end.status not in statuses or "Traceback (most recent call last)" in end.output:
        raise ProofError(f"{what}: {end.describe()}", cause=last_lines(end.output, 6))
    return end
