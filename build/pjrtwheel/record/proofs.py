# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What proving showed: the results of programs, checks and compilations, and the proof of a wheel that they add up to.

A level is claimed only when a program that shows it has run: nothing is inferred from another wheel or machine. These
dataclasses are also the proofs of `release.json` and of the cache: `pjrtwheel.tables` reads and writes them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pjrtwheel.errors import count
from pjrtwheel.record.origin import Origin
from pjrtwheel.tables import LINES, column, metadata


class Level(StrEnum):
    """The strength of the evidence, weakest first."""

    STATIC = "static"
    LOAD = "load"
    AOT = "aot"
    DEVICE = "device"


ORDER = tuple(Level)
COMPILED = "aot "  # in front of a target's name, what the result of compiling for it is called


def highest(levels: Iterable[Level]) -> Level:
    """Return the strongest of some levels, and `static` for none.

    >>> highest([Level.LOAD, Level.DEVICE, Level.AOT]).value, highest([]).value
    ('device', 'static')
    """
    return max(levels, key=ORDER.index, default=Level.STATIC)


class Outcome(StrEnum):
    """What became of one program; one that failed as expected shows nothing about the wheel, for or against it."""

    PASSED = "passed"
    EXPECTED = "failed as expected"
    FAILED = "failed"
    NOT_RUN = "not run"


class ResultKind(StrEnum):
    """What a result is of."""

    PROGRAM = "program"
    TARGET = "target"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """One program on one interpreter: a smoke program, all that was compiled for one target, or a check.

    Attributes:
        program: Name of the program, such as `linalg`.
        outcome: What became of it.
        level: What it shows when it passes.
        seconds: How long it ran.
        detail: Why it failed or did not run; its evidence when it passed.
        kind: Whether it was one program, all that was compiled for one target, or a check of the library.
    """

    program: str
    outcome: Outcome
    level: Level
    seconds: float
    detail: str = field(metadata=metadata(pattern=LINES))
    kind: ResultKind = ResultKind.PROGRAM


@dataclass(frozen=True, slots=True)
class PythonProof:
    """All programs on one interpreter.

    Attributes:
        python: Tag of the interpreter, such as `cp312`.
        interpreter: Its full version, or empty when there is none on this machine.
        results: One entry per program; empty when nothing ran.
        reason: Why nothing ran; empty otherwise.
        missed: Why each higher level could not be shown here, as `device: no NVIDIA GPU found`.
        emulated: Whether the interpreter ran under an emulator of its processor.
        level: The highest level shown here: that of a passed program, when none failed.
        summary: One phrase for the table, such as `15 programs passed` or `not run: no interpreter`.
    """

    python: str = field(metadata=metadata(pattern=r"cp\d\d+t?"))
    interpreter: str
    results: tuple[ProgramResult, ...] = column(key="programs")
    reason: str = column(pattern=LINES, default="")
    missed: tuple[str, ...] = ()
    emulated: bool = False
    level: Level = field(init=False)
    summary: str = field(init=False)

    def __post_init__(self) -> None:
        """Derive level and summary."""
        passed = [result.level for result in self.results if result.outcome is Outcome.PASSED]
        object.__setattr__(self, "level", Level.STATIC if self.failures() else highest(passed))
        object.__setattr__(self, "summary", self._summarize())

    def failures(self) -> tuple[ProgramResult, ...]:
        """Return the programs that failed."""
        return tuple(result for result in self.results if result.outcome is Outcome.FAILED)

    def compiled(self) -> frozenset[str]:
        """Return the names of the targets that programs were compiled for."""
        passed = (result for result in self.results if result.outcome is Outcome.PASSED)
        return frozenset(entry.program.removeprefix(COMPILED) for entry in passed if entry.kind is ResultKind.TARGET)

    def _summarize(self) -> str:
        if not self.results:
            return f"{Outcome.NOT_RUN}: {self.reason}"
        counts = Counter((result.kind, result.outcome) for result in self.results)
        return ", ".join(
            f"{count(counts[kind, outcome], kind)} {outcome}"
            for kind in ResultKind
            for outcome in Outcome
            if counts[kind, outcome]
        )


@dataclass(frozen=True, slots=True)
class Compilation:
    """What became of one program for one arrangement of chips.

    Attributes:
        program: Name of the program.
        topology: Label of the arrangement.
        devices: How many devices that has; 0 if the process died before it could say so.
        seconds: How long lowering and compiling took.
        code: The chips whose code the executable holds.
        calls: Functions of libraries that it calls.
        error: Why there is no executable; empty otherwise.
        outcome: Passed; failed as expected; or failed, also where a failure was expected and did not come.
        detail: What is wrong, or the reason of an expected failure.
    """

    program: str
    topology: str
    devices: int
    seconds: float
    code: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    error: str = column(pattern=LINES, default="")
    outcome: Outcome = Outcome.NOT_RUN
    detail: str = column(pattern=LINES, default="")

    @property
    def passed(self) -> bool:
        """Whether there is code for the chip."""
        return self.outcome is Outcome.PASSED


@dataclass(frozen=True, slots=True)
class TargetProof:
    """All compilations for one chip.

    Attributes:
        name: The target's name.
        summary: What the chip is.
        code: The code that came out.
        seconds: How long it took, with starting JAX.
        compilations: One entry per program and arrangement.
    """

    name: str = field(metadata=metadata(key="target"))
    summary: str
    code: tuple[str, ...]
    seconds: float
    compilations: tuple[Compilation, ...] = column(key="programs")

    @property
    def compiled(self) -> bool:
        """Whether any program gave code for this chip; if not, all failures were expected or the proof failed."""
        return any(compilation.passed for compilation in self.compilations)

    def failures(self) -> tuple[Compilation, ...]:
        """Return what was not as expected."""
        return tuple(compilation for compilation in self.compilations if compilation.outcome is Outcome.FAILED)

    def programs(self, outcome: Outcome) -> tuple[str, ...]:
        """Return the programs with this outcome, each once however many arrangements it was compiled for."""
        return tuple(dict.fromkeys(entry.program for entry in self.compilations if entry.outcome is outcome))

    def summarize(self) -> str:
        """Return one phrase, such as `sm_90a: 11 programs compiled` or `0 programs compiled; pallas failed as ...`."""
        text = f"{count(len(self.programs(Outcome.PASSED)), 'program')} compiled"
        if self.code:
            text = f"{' '.join(self.code)}: {text}"
        expected = [compilation for compilation in self.compilations if compilation.outcome is Outcome.EXPECTED]
        if not expected:
            return text
        reasons = "; ".join(dict.fromkeys(compilation.detail for compilation in expected))
        names = ", ".join(self.programs(Outcome.EXPECTED)) if self.compiled else "all"
        return f"{text}, {names} {Outcome.EXPECTED}: {reasons}"


@dataclass(frozen=True, slots=True)
class ProofMachine:
    """The machine of a proof; it is not named, so that a proof can be published.

    Attributes:
        system: Its kernel and C library, as `Linux-6.1.0-x86_64-with-glibc2.36`.
        processor: Its processor, as it calls itself.
        chip: What the first device calls itself; empty where nothing ran on one.
        chips: How many devices there were.
        driver: The driver, as the plugin's loader describes it; empty if it does not.
    """

    system: str
    processor: str
    chip: str = ""
    chips: int = 0
    driver: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """The evidence about one wheel, as one machine found it.

    Attributes:
        level: The strongest evidence there is.
        pjrt_api: Version of the plugin's PJRT API as the library itself says, or nothing when it was not opened.
        pythons: One entry per Python of the release that the wheel is for.
        origin: From which revision, and when.
        targets: What was compiled ahead of time, in full, on the first Python; empty unless the wheel has a plugin.
        backend: With which plugin the wheel was proven; nothing for bindings by themselves.
        pjrt_attributes: What the library says of itself, as text: `cuda_version` 13000, say.
        machine: On which machine; nothing where nothing ran, or an older version wrote it.
        emulated: Whether the machine was emulated, which shows less than the same level on a real one.
    """

    level: Level
    pjrt_api: str | None
    pythons: tuple[PythonProof, ...]
    origin: Origin
    targets: tuple[TargetProof, ...] = ()
    backend: str | None = None
    pjrt_attributes: Mapping[str, str] = field(default_factory=dict)
    machine: ProofMachine | None = field(default=None, metadata=metadata(omit_default=True))
    emulated: bool = field(init=False)

    def __post_init__(self) -> None:
        """Derive from the Pythons whether the machine was emulated."""
        object.__setattr__(self, "emulated", any(python.emulated for python in self.pythons))

    @property
    def device(self) -> str:
        """What the device calls itself that programs ran on; empty for that of the host, which has no other name."""
        return self.machine.chip if self.machine and self.machine.chip != self.backend else ""

    def device_words(self) -> frozenset[str]:
        """Return the words of the device's name; a target that is such a device is called by one, such as `h100`."""
        return frozenset(re.split(r"\W", self.device.lower()))

    def shown_level(self) -> Level:
        """Return the level that the results show, which a proof from elsewhere may overstate."""
        opened = [Level.LOAD] if self.pjrt_api is not None else []
        return highest([*(python.level for python in self.pythons), *opened])

    def outcomes(self) -> Counter[Outcome]:
        """Return how many programs, targets and checks failed on any Python, or else passed on any, each once."""
        order = (Outcome.FAILED, Outcome.PASSED, Outcome.EXPECTED, Outcome.NOT_RUN)
        found: dict[tuple[ResultKind, str], Outcome] = {}
        for result in (result for python in self.pythons for result in python.results):
            key = (result.kind, result.program)
            found[key] = min(result.outcome, found.get(key, result.outcome), key=order.index)
        return Counter(found.values())

    def expected_failures(self) -> dict[str, str]:
        """Return the programs that cannot run on the device, as the backend's file declares: name → reason."""
        results = (result for python in self.pythons for result in python.results)
        expected = (ResultKind.PROGRAM, Outcome.EXPECTED)
        return {result.program: result.detail for result in results if (result.kind, result.outcome) == expected}

    def describe_level(self) -> str:
        """Return the level, as `aot`, or as `aot (emulated)`."""
        return f"{self.level}{' (emulated)' if self.emulated else ''}"


def explain_level(proofs: Mapping[str, Proof]) -> str:
    """Say in one line why a plugin is not proven on a device, as `cuda13: aot, not device: no NVIDIA GPU found`.

    There is nothing to say of a plugin that is, or of bindings alone, which have no device.
    """
    proof = max(proofs.values(), key=lambda proof: ORDER.index(proof.level))
    if proof.backend is None or proof.level is Level.DEVICE:
        return ""
    missed = dict.fromkeys(reason for python in proof.pythons for reason in python.missed)
    reasons = [f"not {reason}" for reason in missed]
    reasons = reasons or [f"no program ran: {reason}" for reason in dict.fromkeys(p.reason for p in proof.pythons)]
    return f"{proof.backend}: {proof.describe_level()}, {'; '.join(reasons)}"
