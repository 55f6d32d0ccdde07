# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare what became of JAX's own tests on a plugin and on JAX's built-in client.

The differences that cannot be avoided are in `tests/conformance/<backend>.toml`, with a reason for each.
"""

import fnmatch
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.errors import UsageError

CLIENTS = ("built-in", "plugin")
# End the names of cases that are not JAX's: importing a file, and its process, where these fail.
IMPORT, PROCESS = "::import", "::process"


class CaseOutcome(StrEnum):
    """What became of one case; one that kills its worker, or exceeds its time limit, has failed."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """One test case on one client; its name, as pytest gives it, is the key under which it is kept.

    Attributes:
        detail: The failure, or why it was skipped, in one line.
    """

    outcome: CaseOutcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """One unavoidable difference.

    Attributes:
        case: Name of the case, or a pattern with `*`.
        outcome: What becomes of it on the plugin.
        reason: Why, in one sentence.
    """

    case: str
    outcome: CaseOutcome
    reason: str = tables.column(pattern=r"(?s)\s*\S.*")

    def matches(self, name: str) -> bool:
        """Return whether this entry is about a case."""
        return fnmatch.fnmatchcase(name, self.case)


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that does not pass on the plugin, and ends otherwise on the built-in client.

    Attributes:
        case: What became of it on the plugin.
        reason: Why this is expected; empty if it is not.
    """

    name: str
    case: Case
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of one test file.

    Attributes:
        counts: CaseOutcome → count on the plugin.
        differences: Cases that end otherwise on the built-in client.
        stale: Expected entries whose cases ran and no longer differ.
    """

    file: str
    counts: Counter[CaseOutcome]
    differences: tuple[Difference, ...]
    stale: tuple[Expected, ...]

    def unexpected(self) -> list[Difference]:
        """Return the differences that no entry explains."""
        return [difference for difference in self.differences if not difference.reason]


@dataclass(frozen=True, slots=True)
class _ExpectedFile:
    difference: tuple[Expected, ...] = ()


def load_expected(root: Path, backend: str) -> tuple[Expected, ...]:
    """Read the list of a backend; empty if it has none.

    Raises:
        UsageError: It is malformed, or an entry gives no reason.
    """
    path = root / "tests" / "conformance" / f"{backend}.toml"
    try:
        return tables.read_toml(_ExpectedFile, path.read_text("utf-8")).difference if path.is_file() else ()
    except tables.TableError as error:
        raise UsageError(f"malformed list of expected differences: {path}", cause=str(error)) from error


def compare(
    file: str, plugin: Mapping[str, Case], builtin: Mapping[str, Case], expected: Sequence[Expected]
) -> Comparison:
    """Compare the cases of one file with those of them that also ran on the built-in client."""
    differing = [
        name
        for name, case in plugin.items()
        if case.outcome is not CaseOutcome.PASSED and (name not in builtin or builtin[name].outcome is not case.outcome)
    ]
    stale = [entry for entry in expected if any(map(entry.matches, plugin)) and not any(map(entry.matches, differing))]
    return Comparison(
        file=file,
        counts=Counter(case.outcome for case in plugin.values()),
        differences=tuple(_differ(name, plugin[name], expected) for name in differing),
        stale=tuple(stale),
    )


def _differ(name: str, case: Case, expected: Sequence[Expected]) -> Difference:
    reasons = (entry.reason for entry in expected if entry.outcome is case.outcome and entry.matches(name))
    return Difference(name, case, next(reasons, ""))


def format_report(comparisons: Sequence[Comparison]) -> str:
    """Return a line for each file, followed by every case that differs."""
    return "\n".join(line for comparison in comparisons for line in _lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    counts = ", ".join(f"{comparison.counts[outcome]} {outcome}" for outcome in CaseOutcome)
    unexpected = len(comparison.unexpected())
    expected = len(comparison.differences) - unexpected
    yield f"{comparison.file}: {counts}; differs on JAX's own client: {unexpected}, and {expected} expected"
    for found in comparison.differences:
        why = f"expected: {found.reason}" if found.reason else found.case.detail
        yield f"- {found.name}: {found.case.outcome}; {why}"
    yield from (f"- no longer differs: {entry.case} ({entry.outcome})" for entry in comparison.stale)
