# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare what became of the same cases on two clients, and report that in Markdown.

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

# Ends the name of the case that stands for importing a file, which there is only when that fails.
IMPORT = "::import"


class CaseOutcome(StrEnum):
    """What became of one case; one that exceeds its time limit crashes."""

    PASSED = "passed"
    SKIPPED = "skipped"
    FAILED = "failed"
    CRASHED = "crashed"
    NOT_RUN = "not run"

    def is_bad(self) -> bool:
        """Return whether the case ran and did not do what it should."""
        return self in {CaseOutcome.FAILED, CaseOutcome.CRASHED}


WORST = (CaseOutcome.PASSED, CaseOutcome.SKIPPED, CaseOutcome.FAILED, CaseOutcome.CRASHED)


@dataclass(frozen=True, slots=True)
class Case:
    """One test case on one client; its name, as pytest gives it, is the key under which it is kept.

    Attributes:
        detail: The last line of the failure, or why it was skipped.
    """

    outcome: CaseOutcome
    detail: str = ""


_SHOWN = (CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.SKIPPED)


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


class ChangeKind(StrEnum):
    """How a case differs on the plugin; it may also fail on both clients, in another way."""

    FAILING = "newly failing"
    SKIPPED = "newly skipped"
    PASSING = "passing on the plugin alone"
    OTHER = "failing on both"


@dataclass(frozen=True, slots=True)
class Change:
    """A case that went from one outcome on the built-in client to another one on the plugin.

    Attributes:
        detail: What it said on the plugin.
        reason: Why this is expected; empty if it is not.
    """

    name: str
    before: CaseOutcome
    after: CaseOutcome
    detail: str
    reason: str

    @property
    def kind(self) -> ChangeKind:
        """How it differs: a case that fails, crashes or hangs on the plugin, or is lost there, is a failing one."""
        if self.after.is_bad() or self.after is CaseOutcome.NOT_RUN:
            return ChangeKind.OTHER if self.before.is_bad() else ChangeKind.FAILING
        return ChangeKind.SKIPPED if self.after is CaseOutcome.SKIPPED else ChangeKind.PASSING


@dataclass(frozen=True, slots=True)
class Difference:
    """The comparison of one test file.

    Attributes:
        builtin: CaseOutcome → count on the built-in client; `plugin` has those on the plugin.
        changes: Cases that went from one outcome to another one.
        stale: Expected entries whose cases ran and no longer differ.
        unusable: Why the file cannot be imported on the built-in client, so that it compares nothing; usually empty.
    """

    file: str
    builtin: Counter[CaseOutcome]
    plugin: Counter[CaseOutcome]
    changes: tuple[Change, ...]
    stale: tuple[Expected, ...]
    unusable: str

    def of_kind(self, *kinds: ChangeKind) -> list[Change]:
        """Return the changes of some kinds."""
        return [change for change in self.changes if change.kind in kinds]

    def unexpected(self) -> list[Change]:
        """Return the changes for the worse that no entry explains."""
        return [change for change in self.of_kind(*_WORSE) if not change.reason]


_WORSE = (ChangeKind.FAILING, ChangeKind.SKIPPED)


@dataclass(frozen=True, slots=True)
class _ExpectedFile:
    difference: tuple[Expected, ...] = ()


def listed_backends(root: Path) -> tuple[str, ...]:
    """Return the names of the backends that have a list, in order: those that JAX's tests were ever run on."""
    return tuple(sorted(path.stem for path in (root / "tests" / "conformance").glob("*.toml")))


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
    file: str, builtin: Mapping[str, Case], plugin: Mapping[str, Case], expected: Sequence[Expected]
) -> Difference:
    """Compare the cases of one file.

    One that only the built-in client has counts as not run on the plugin, and that as newly failing.
    """
    # A process that breaks outside of any case has no counterpart on the other side.
    names = [*builtin, *(name for name, case in plugin.items() if name not in builtin and case.outcome.is_bad())]
    nothing = Case(CaseOutcome.NOT_RUN, "lost")
    changes = [_change(name, builtin.get(name, nothing), plugin.get(name, nothing), expected) for name in names]
    differing = tuple(change for change in changes if change.before is not change.after)
    stale = [entry for entry in expected if any(map(entry.matches, plugin))]
    return Difference(
        file=file,
        builtin=Counter(case.outcome for case in builtin.values()),
        plugin=Counter(case.outcome for case in plugin.values()),
        changes=differing,
        stale=tuple(entry for entry in stale if not any(entry.matches(change.name) for change in differing)),
        unusable=next((c.detail for n, c in builtin.items() if n.endswith(IMPORT) and c.outcome.is_bad()), ""),
    )


def _change(name: str, before: Case, after: Case, expected: Sequence[Expected]) -> Change:
    reason = next((entry.reason for entry in expected if entry.outcome is after.outcome and entry.matches(name)), "")
    return Change(name, before.outcome, after.outcome, after.detail, reason)


def _format_counts(counts: Counter[CaseOutcome]) -> str:
    """Return `passed / failed / skipped`, and how many crashed.

    >>> _format_counts(Counter({CaseOutcome.PASSED: 5, CaseOutcome.SKIPPED: 2, CaseOutcome.CRASHED: 1}))
    '5 / 0 / 2 (1 crashed)'
    """
    crashed = f" ({counts[CaseOutcome.CRASHED]} crashed)" if counts[CaseOutcome.CRASHED] else ""
    return " / ".join(str(counts[outcome]) for outcome in _SHOWN) + crashed


def format_report(differences: Sequence[Difference]) -> str:
    """Return the table, followed by every case that differs."""
    return "\n".join(_lines(differences)) + "\n"


def _lines(differences: Sequence[Difference]) -> Iterator[str]:
    counts = " / ".join(_SHOWN)
    yield f"| file | built-in: {counts} | plugin: {counts} | newly failing | newly skipped | of these expected |"
    yield "|---|---|---|---|---|---|"
    for d in differences:
        failing, skipped = (len(d.of_kind(kind)) for kind in _WORSE)
        counts = f"{_format_counts(d.builtin)} | {_format_counts(d.plugin)}"
        yield f"| {d.file} | {counts} | {failing} | {skipped} | {failing + skipped - len(d.unexpected())} |"
    for d in differences:
        if d.unusable:
            yield from ("", f"{d.file} compares nothing, it cannot be imported with this JAX: {d.unusable}")
        for kind in (*_WORSE, ChangeKind.PASSING):
            yield from _section(f"{d.file}: {kind}", d.of_kind(kind))
        if d.stale:
            yield from ("", f"{d.file}: stale entries, to be removed from the list of expected differences", "")
            yield from (f"- {entry.case} ({entry.outcome})" for entry in d.stale)


def _section(title: str, changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        yield from ("", title, "")
        for change in changes:
            why = f"expected: {change.reason}" if change.reason else change.detail
            yield f"- {change.name}: {change.before} -> {change.after}; {why}"
