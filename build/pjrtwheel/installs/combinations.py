# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which installations there are to try, and why some cannot be tried here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from pjrtwheel.abis import name_python
from pjrtwheel.backend import Backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.errors import UsageError, fit
from pjrtwheel.installs.stage import StagedSet

INSTALLERS = ("pip", "uv")


class Reason(StrEnum):
    """Why a combination cannot be tried here."""

    NOT_STAGED = "not at the stage"
    NO_PYTHON = "no such Python on this machine"
    VENDOR_WHEELS = "not downloaded without --vendor-wheels"


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
class Result:
    """What one combination showed.

    Attributes:
        combination: Which one.
        outcome: What became of it.
        detail: The devices, or why there are none; why it failed or was skipped.
        wheels: File names of the wheels of the set that were installed.
        seconds: How long it took.
    """

    combination: Combination
    outcome: InstallOutcome
    detail: str
    wheels: tuple[str, ...] = ()
    seconds: float = 0.0


def list_combinations(
    pythons: Iterable[str], backends: Iterable[Backend], installers: Iterable[str]
) -> Iterator[Combination]:
    """Yield every combination; what the vendor's libraries are is in each backend's extras."""
    chosen = list(backends)
    named = list(installers)
    for python in pythons:
        for backend in chosen:
            for extra, extras in backend.jaxlib_extras.items():
                vendor = bool(extras) or not backend.prebuilt.bundled
                for installer in named:
                    yield Combination(python, backend.name, extra, installer, vendor)


def choose_pythons(available: Collection[str], asked: Collection[str]) -> tuple[str, ...]:
    """Return the Pythons to try, by their ABI tags; all that there are wheels for unless some are asked for.

    >>> choose_pythons(["cp312", "cp313", "cp313t"], ["3.13", "3.13t"])
    ('cp313', 'cp313t')

    Raises:
        UsageError: There are no wheels for one.
    """
    tags = {python: python if python.startswith("cp") else f"cp{python.replace('.', '')}" for python in asked}
    if unknown := [python for python, tag in tags.items() if tag not in available]:
        remedy = f"there are some for {fit(map(name_python, available))}"
        raise UsageError(f"no wheels for Python {fit(unknown)}", remedy=remedy)
    return tuple(tags.values()) or tuple(available)


def why_skipped(
    combination: Combination,
    staged: StagedSet,
    distribution: str,
    interpreter: Interpreter | None,
    *,
    vendor_wheels: bool,
) -> Reason | None:
    """Return why a combination cannot be tried here; nothing if it can."""
    if staged.find(distribution, combination.python) is None:
        return Reason.NOT_STAGED
    if interpreter is None:
        return Reason.NO_PYTHON
    if combination.vendor and not vendor_wheels:
        return Reason.VENDOR_WHEELS
    return None


def describe_skips(results: Iterable[Result]) -> Iterator[str]:
    """Yield a line for all combinations that were skipped for one reason on the same Pythons: how many, and which."""
    skipped = [(result.detail, result.combination) for result in results if result.outcome is InstallOutcome.SKIPPED]
    pythons: dict[tuple[str, str], list[str]] = {}
    for reason, one in skipped:
        pythons.setdefault((reason, one.extra), []).append(one.python)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reason, extra), tags in pythons.items():
        alike.setdefault((reason, tuple(dict.fromkeys(tags))), []).append(extra)
    for (reason, same), extras in alike.items():
        number = sum(len(pythons[reason, extra]) for extra in extras)
        yield f"skipped {number:>2}, {reason}: {', '.join(extras)} on Python {', '.join(map(name_python, same))}"


def sum_up(results: Iterable[Result]) -> str:
    """Return how many combinations passed, failed and were skipped."""
    outcomes = [result.outcome for result in results]
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in InstallOutcome)
