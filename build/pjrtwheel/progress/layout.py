# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How steps look, as lines of text: pure functions of what runs, the time, the width and the marks there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjrtwheel.progress.step import Activity, Item

_ITEMS = 4  # that are shown of one step


@dataclass(frozen=True, slots=True)
class Marks:
    """Signs that a terminal can show."""

    passed: str
    failed: str
    running: str
    cut: str


ASCII = Marks("ok", "failed", "..", "...")
UNICODE = Marks("✓", "✗", "▸", "…")


def format_time(seconds: float) -> str:
    """Return a duration in few letters.

    >>> format_time(7.4), format_time(83), format_time(3600 * 2 + 61)
    ('7 s', '1:23', '2:01:01')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cut_text(text: str, width: int, mark: str) -> str:
    """Return a text that is no longer than a width, with a mark where its end is left out.

    >>> cut_text("jaxlib_cuda_13", 8, "..."), cut_text("jaxlib", 8, "...")
    ('jaxli...', 'jaxlib')
    """
    return text if len(text) <= width else text[: max(0, width - len(mark))] + mark[:width]


def describe_item(item: Item, now: float) -> str:
    """Return how far an item is: megabytes and their rate of a download, otherwise how long it has run.

    >>> describe_item(Item("a.whl", 10.0, 30_000_000, 60_000_000), 12.0), describe_item(Item("jit", 10.0), 12.0)
    ('30.0 of 60.0 MB, 15.0 MB/s', '2 s')
    """
    elapsed = max(now - item.since, 0.0)
    if item.received is None:
        return format_time(elapsed)
    size = f" of {item.size / 1e6:.1f}" if item.size else ""
    rate = f", {item.received / 1e6 / elapsed:.1f} MB/s" if elapsed >= 1 and item.received else ""
    return f"{item.received / 1e6:.1f}{size} MB{rate}"


def _count(activity: Activity) -> str:
    if activity.total:
        return f" {activity.done} of {activity.total}"
    return f" {activity.done}" if activity.done else ""


def _place_right(left: str, right: str, width: int, mark: str) -> str:
    """Return one line with a text at each end; the left one gives way."""
    room = width - len(right) - 1
    return f"{cut_text(left, room, mark):<{max(room, 0)}} {right}"[: max(width, 0)]


def layout_live(
    activities: Sequence[Activity], started: float, now: float, width: int, marks: Marks = UNICODE
) -> list[str]:
    """Return the lines for a terminal: each step with its items below it, and how long everything has taken."""
    lines = []
    for activity in activities:
        elapsed = format_time(now - activity.since)
        lines.append(_place_right(f"{marks.running} {activity.name}{_count(activity)}", elapsed, width, marks.cut))
        shown = activity.items[:_ITEMS]
        lines += [_place_right(f"    {item.name}", describe_item(item, now), width, marks.cut) for item in shown]
        if len(activity.items) > _ITEMS:
            lines.append(f"    and {len(activity.items) - _ITEMS} more")
    return [*lines, _place_right("total", format_time(now - started), width, marks.cut)] if lines else []


def describe_running(activities: Sequence[Activity], started: float, now: float, width: int, mark: str = "...") -> str:
    """Return one line for a log: since when what runs; empty when nothing does."""
    if not activities:
        return ""
    parts = []
    for activity in activities:
        items = "; ".join(f"{item.name} ({describe_item(item, now)})" for item in activity.items[:_ITEMS])
        more = f" and {len(activity.items) - _ITEMS} more" if len(activity.items) > _ITEMS else ""
        head = f"{activity.name}{_count(activity)} for {format_time(now - activity.since)}"
        parts.append(head + (f": {items}{more}" if items else ""))
    return cut_text(f"[{format_time(now - started)}] {'; '.join(parts)}", width, mark)


def describe_end(activity: Activity, now: float, marks: Marks, *, passed: bool) -> str:
    """Return the line that stays of a step: whether it came to its end, how much of it, and how long that took."""
    mark, duration = marks.passed if passed else marks.failed, format_time(now - activity.since)
    if passed:
        return (
            f"{mark} {activity.name}: {f'{activity.done} in ' if activity.done == activity.total > 0 else ''}{duration}"
        )
    return f"{mark} {activity.name}{_count(activity)}: {duration}"
