# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What fits on one screen: a wheel in short, the verdict first, and two wheels side by side, only what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from pjrtwheel.elf.repair import describe_size
from pjrtwheel.errors import count
from pjrtwheel.verify.compare import Comparison, Difference
from pjrtwheel.verify.model import Inspection
from pjrtwheel.verify.rows import LABEL, WIDTH, Row, fit_values, heading, lay_out
from pjrtwheel.verify.terminal import describe_formats, describe_plugin, describe_versions

_FINDINGS = 6  # that are shown in full
_LIBRARIES = 2  # whose differences are shown
_REMARK = "--verbose shows all of it, --json for programs"


def render_summary(inspection: Inspection, console: Console, width: int | None = None) -> None:
    """Print the verdict about a wheel, what it is, and its first findings."""
    _print(_summarize(inspection, width or WIDTH), console)


def render_comparison(comparison: Comparison, console: Console, width: int | None = None, *, whole: bool) -> None:
    """Print in what two wheels differ, `whole` or each difference on one line; and in one line what is equal."""
    _print(_compare(comparison, None if whole else width or WIDTH), console)


def _print(lines: Iterator[Text], console: Console) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)


def _summarize(inspection: Inspection, width: int) -> Iterator[Text]:
    yield heading(inspection.wheel)
    yield from lay_out(_describe_wheel(inspection, width), None)
    kinds = {finding.code: finding for finding in reversed(inspection.findings)}
    shown = sorted(kinds.values(), key=inspection.findings.index)[:_FINDINGS]
    used = 3 + max([LABEL - 1, *(len(finding.code) for finding in shown)])
    texts = ((entry.code, f"{entry.member}: {entry.text}" if entry.member else entry.text) for entry in shown)
    yield from lay_out(((code, [fit_values([text], width, used=used)]) for code, text in texts), None)
    more = len(kinds) - len(shown)
    remark = f"{count(more, 'more kind')} of findings; {_REMARK}" if more > 0 else _REMARK
    yield Text(f"  {remark}", style="dim")
    yield Text()


def _describe_wheel(inspection: Inspection, width: int) -> Iterator[Row]:
    codes = Counter(finding.code for finding in inspection.findings)
    found = [code if number == 1 else f"{code} ({number})" for code, number in codes.items()]
    verdict = f"{count(len(inspection.findings), 'finding')}: {', '.join(found)}" if found else "no findings"
    lock = inspection.lock or {}
    yield "verdict", [fit_values([verdict], width)]
    yield "project", [fit_values([f"{inspection.name} {inspection.version}: {inspection.summary}"], width)]
    yield "size", [f"{describe_size(inspection.size)}, installed {describe_size(inspection.installed_size)}"]
    yield "sha256", [inspection.sha256]
    yield "tags", [fit_values(inspection.tags, width)]
    yield "Python", [inspection.requires_python or "any"]
    yield "lock", [f"{lock.get('lock_id')}, provider {lock.get('provider')}" if lock else "none"]
    yield "requires", [fit_values(inspection.requires, width) or "nothing"]
    yield "entry points", [fit_values(inspection.entry_points, width) or "none"]
    yield "libraries", [fit_values([*describe_formats(inspection.libraries)], width) or "none"]
    yield "needs", [describe_versions(inspection.floors()) or "no libc"]
    yield "GPU code", [fit_values(inspection.gpu_code().names(), width) or "none"]
    for library in inspection.libraries:
        if library.is_plugin:
            yield "plugin", [fit_values([library.member], width)]
            yield "exports", [fit_values(library.exports, width)]
            if library.search_paths:
                yield library.search_kind, [fit_values(library.search_paths, width)]
    for plugin in inspection.plugins.values():
        yield from ((label, [fit_values([text], width)]) for label, text in describe_plugin(plugin))


def _compare(comparison: Comparison, width: int | None) -> Iterator[Text]:
    a, b = comparison.a, comparison.b
    yield heading(f"A {a.wheel}")
    yield heading(f"B {b.wheel}")
    if comparison.same_bytes:
        yield Text(f"  the same bytes: {describe_size(a.size)}, sha256 {a.sha256}")
        return
    rows = [
        ("size", [_describe_change(a.size, b.size)]),
        ("installed", [_describe_change(a.installed_size, b.installed_size)]),
    ]
    yield from lay_out([*rows, *(_row(entry, width) for entry in comparison.differences if not entry.library)], None)
    libraries = list(dict.fromkeys(entry.library for entry in comparison.differences if entry.library))
    shown = libraries if width is None else libraries[:_LIBRARIES]
    for library in shown:
        yield heading(library)
        yield from lay_out([_row(entry, width) for entry in comparison.differences if entry.library == library], None)
    if len(libraries) > len(shown):
        rest = libraries[len(shown) :]
        yield from lay_out([("also differ", [_fit(rest, width)])], None)
    equal = [*comparison.equal, *comparison.equal_libraries]
    yield from lay_out([("equal", [_fit(equal, width) or "nothing"])], None)
    if width is not None:
        yield Text(f"  {_REMARK}", style="dim")


def _describe_change(before: int, after: int) -> str:
    """Return two sizes and how far they are apart.

    >>> _describe_change(200_000_000, 150_000_000)
    '200.0 MB -> 150.0 MB (-25.0 %)'
    """
    share = f" ({100 * (after - before) / before:+.1f} %)" if before else ""
    return f"{describe_size(before)} -> {describe_size(after)}{share}"


def _row(difference: Difference, width: int | None) -> Row:
    """Return a difference in one line where both sides are one short value, else in a line for each side."""
    a, b = difference.only_a, difference.only_b
    if len(a) == len(b) == 1:
        line = f"{a[0]} -> {b[0]}"
        if width is None or fit_values([line], width) == line:
            return difference.about, [line]
    sides = (("-", a), ("+", b))
    return difference.about, [f"{mark} {_fit(values, width and width - 2)}" for mark, values in sides if values]


def _fit(values: list[str] | tuple[str, ...], width: int | None) -> str:
    return ", ".join(values) if width is None else fit_values(values, width)
