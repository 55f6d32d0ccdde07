# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison as a table and a list of names, in Markdown, which reads well on a terminal too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pjrtwheel.conformance.cases import Outcome
from pjrtwheel.conformance.difference import Change, Difference

_SHOWN = (Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED)


def format_counts(counts: dict[Outcome, int]) -> str:
    """Return `passed / failed / skipped`, and what else there was by name.

    >>> format_counts({Outcome.PASSED: 5, Outcome.FAILED: 0, Outcome.SKIPPED: 2, Outcome.CRASHED: 1})
    '5 / 0 / 2 (1 crashed)'
    """
    rest = [f"{count} {outcome}" for outcome, count in counts.items() if outcome not in _SHOWN and count]
    shown = " / ".join(str(counts[outcome]) for outcome in _SHOWN)
    return f"{shown} ({', '.join(rest)})" if rest else shown


def format_report(differences: Sequence[Difference]) -> str:
    """Return the table, followed by every case that differs."""
    return "\n".join(_lines(differences)) + "\n"


def _lines(differences: Sequence[Difference]) -> Iterator[str]:
    counts = " / ".join(_SHOWN)
    yield f"| file | built-in: {counts} | plugin: {counts} | newly failing | newly skipped | of these expected |"
    yield "|---|---|---|---|---|---|"
    for d in differences:
        worse = (*d.newly_failing, *d.newly_skipped)
        explained = sum(bool(change.reason) for change in worse)
        yield (
            f"| {d.file} | {format_counts(d.builtin)} | {format_counts(d.plugin)} "
            f"| {len(d.newly_failing)} | {len(d.newly_skipped)} | {explained} |"
        )
    for d in differences:
        if d.unusable:
            yield from ("", f"{d.file} compares nothing, it cannot be imported with this JAX: {d.unusable}")
        yield from _section(f"{d.file}: newly failing", d.newly_failing)
        yield from _section(f"{d.file}: newly skipped", d.newly_skipped)
        yield from _section(f"{d.file}: passing on the plugin alone", d.newly_passing)
        if d.stale:
            yield from ("", f"{d.file}: stale entries, to be removed from the list of expected differences", "")
            yield from (f"- {entry.case} ({entry.outcome})" for entry in d.stale)


def _section(title: str, changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        yield from ("", title, "")
        for change in changes:
            why = f"expected: {change.reason}" if change.reason else change.detail
            yield f"- {change.name}: {change.before} -> {change.after}; {why}"
