# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a bump, in Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pjrtwheel.bump.comparison import Row, SizeRow
from pjrtwheel.bump.decisions import Decision
from pjrtwheel.bump.steps import Step
from pjrtwheel.errors import shorten

_SHOWN = 12  # values of a list, and names of what did not change


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: a heading, and the lines below it; one without lines is left out."""

    heading: str
    lines: tuple[str, ...]


def render_report(title: str, sections: Iterable[Section]) -> str:
    """Return the text of a report."""
    parts = [f"# {title}\n"]
    parts += [f"## {section.heading}\n\n" + "\n".join(section.lines) + "\n" for section in sections if section.lines]
    return "\n".join(parts)


def wrap(text: str, width: int) -> str:
    """Return a report for a terminal: long lines are folded, but for those of tables."""
    folder = textwrap.TextWrapper(width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    lines = (line if line.startswith("|") else folder.fill(line) for line in text.splitlines())
    return "\n".join(lines) + "\n"


def list_decisions(decisions: Iterable[Decision]) -> tuple[str, ...]:
    """Return a list to tick off."""
    return tuple(f"- [ ] `{entry.path}:{entry.line}`: {entry.question}. To write: {entry.edit}" for entry in decisions)


def list_steps(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return what was done, and what failed with the whole error."""
    lines = []
    for step in steps:
        if step.error is None:
            lines.append(f"- {step.name}: {step.detail or 'done'}")
        else:
            message = "; ".join(line.strip() for line in str(step.error).splitlines())
            lines.append(f"- **{step.name} failed**: {message}")
    return tuple(lines)


def list_rows(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return one line for each change, with all that changed alike, and one that names what did not change."""
    names: dict[str, list[str]] = {}
    for row in rows:
        if row.is_changed:
            names.setdefault(_describe(row), []).append(row.name)
    unchanged = [row.name for row in rows if not row.is_changed and row.after]
    changed = tuple(f"- {', '.join(alike)}: {change}" for change, alike in names.items())
    return (*changed, f"- unchanged: {shorten(unchanged, _SHOWN)}") if unchanged else changed


def list_sizes(rows: Iterable[SizeRow], before: str, after: str) -> tuple[str, ...]:
    """Return a table of sizes in MB."""
    lines = tuple(_row_of_sizes(row) for row in rows)
    return (f"| MB | {before} | {after} | change |", "|---|---:|---:|---:|", *lines) if lines else ()


def _describe(row: Row) -> str:
    if not row.before:
        return f"new, {shorten(row.after, _SHOWN)}"
    if not row.after:
        return f"**gone**, was {shorten(row.before, _SHOWN)}"
    if len(row.before) == len(row.after) == 1:
        return f"{row.before[0]} → {row.after[0]}"
    return "; ".join(_describe_difference(row))


def _describe_difference(row: Row) -> Iterator[str]:
    if row.added:
        yield f"added {shorten(row.added, _SHOWN)}"
    if row.removed:
        yield f"**removed {shorten(row.removed, _SHOWN)}**"


def _row_of_sizes(row: SizeRow) -> str:
    before, after = (f"{size / 1e6:.1f}" if size else "" for size in (row.before, row.after))
    change = f"{100 * (row.after - row.before) / row.before:+.1f} %" if row.before and row.after else ""
    return f"| {row.name} | {before} | {after} | {change} |"
