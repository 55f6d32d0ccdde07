# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Print what is known of wheels: one in short or as a whole, and in what two differ.

All of it is rows of a name and its values. A word that somebody may want to copy, such as a hash, a path or the name of
a wheel, is never broken. What is piped has every value on one line.
"""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from pjrtwheel.binaries import Library
from pjrtwheel.errors import count, describe_size, printable, shorten
from pjrtwheel.verify.compare import (
    Comparison,
    Difference,
    count_findings,
    describe_library,
    describe_wheel,
    sort_libraries,
)
from pjrtwheel.verify.inspection import Inspection
from pjrtwheel.verify.libraries import describe_format

_SHOWN = 8
_FILES = 24  # that are listed of a wheel
_FINDINGS = 6  # that are shown of a wheel in short
_LIBRARIES = 2  # whose differences are shown
_REMARK = "--verbose shows all of it, --json for programs"
_WIDTH = 80  # where nobody says how wide the terminal is
_LABEL = 14  # with it a sha256 ends in the 80th column
# What those who are in a hurry do not look for.
_DETAILS = {"build tag", "purelib", "extras", "licence", "licence files", "SBOM"}
# Of which each value begins a line.
_LISTS = {"requires", "entry points", "outside", "libraries"}

# A name, and its values: each begins a line.
Row = tuple[str, Sequence[str]]


def print_wheel(inspection: Inspection, console: Console, width: int | None = None) -> None:
    """Print everything about a wheel; lines end at `width` between two words, or nowhere when it is not given."""
    _print(_describe_whole(inspection, width), console)


def print_summary(inspection: Inspection, console: Console, width: int | None = None) -> None:
    """Print the verdict about a wheel, what it is, and its first findings, on one screen."""
    _print(_summarize(inspection, width or _WIDTH), console)


def print_comparison(comparison: Comparison, console: Console, width: int | None = None, *, whole: bool) -> None:
    """Print in what two wheels differ, `whole` or each difference on one line; and in one line what is equal."""
    _print(_describe_comparison(comparison, None if whole else width or _WIDTH), console)


def _print(lines: Iterable[Text], console: Console) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)


def _heading(text: str) -> Text:
    return Text(printable(text, None), style="bold")


def _lay_out(rows: Iterable[Row], width: int | None) -> Iterator[Text]:
    """Yield the lines of rows; they end at `width` between two words, or nowhere when it is not given."""
    table = list(rows)
    label = max([_LABEL, *(len(name) + 1 for name, _ in table)])
    for name, values in table:
        indent = f"  {name:<{label}}"
        for value in values:
            for line in _wrap(printable(value, None), label + 2, width):
                yield Text.assemble((indent, "dim"), line)
                indent = " " * len(indent)


def _wrap(text: str, indent: int, width: int | None) -> list[str]:
    """Return the lines of a text; one that is a single long word may be wider than the terminal."""
    if width is None:
        return [text]
    return textwrap.wrap(text, max(width - indent, 1), break_long_words=False, break_on_hyphens=False) or [""]


def fit_values(values: Sequence[str], width: int | None, *, used: int = _LABEL + 2) -> str:
    """Return values as one line of a row: as many as there is room for, and how many more there are.

    >>> fit_values(["jaxlib==1.2.3", "numpy>=2", "scipy>=1.17"], 44)
    'jaxlib==1.2.3 and 2 more'
    """
    shown = ", ".join(values)
    if width is None:
        return shown
    room = width - used
    for number in range(len(values) - 1, 0, -1):
        if len(shown) <= room:
            return shown
        shown = f"{', '.join(values[:number])} and {len(values) - number} more"
    return shown if len(shown) <= room else f"{shown[: max(room - 3, 1)]}..."


def _list_facts(inspection: Inspection) -> dict[str, Sequence[str]]:
    size = f"{describe_size(inspection.size)}, installed {describe_size(inspection.installed_size)}"
    kinds = Counter(map(describe_format, inspection.libraries))
    facts = dict(describe_wheel(inspection))
    return {
        "project": facts.pop("project"),
        "size": [size],
        "sha256": [inspection.sha256],
        **facts,
        "libraries": [f"{number} {kind}" for kind, number in kinds.items()],
    }


def _summarize(inspection: Inspection, width: int) -> Iterator[Text]:
    codes = count_findings(inspection)
    verdict = f"{count(len(inspection.findings), 'finding')}: {', '.join(codes)}" if codes else "no findings"
    facts = {"verdict": [verdict], **_list_facts(inspection)}
    rows = [(label, values) for label, values in facts.items() if label not in _DETAILS]
    for library in filter(lambda library: library.is_plugin, inspection.libraries):
        rows += [("plugin", [library.member]), ("exports", library.exports)]
        rows += [(library.search_kind, library.search_paths)] if library.search_paths else []
    yield _heading(inspection.wheel)
    uncut = {"size", "sha256", "lock"}
    shortened = ((label, fit_values(values or ["none"], None if label in uncut else width)) for label, values in rows)
    yield from _lay_out([(label, [text]) for label, text in shortened], None)
    kinds = {finding.code: finding for finding in reversed(inspection.findings)}
    shown = sorted(kinds.values(), key=inspection.findings.index)[:_FINDINGS]
    used = 3 + max([_LABEL - 1, *(len(finding.code) for finding in shown)])
    texts = ((entry.code, f"{entry.member}: {entry.text}" if entry.member else entry.text) for entry in shown)
    yield from _lay_out(((code, [fit_values([text], width, used=used)]) for code, text in texts), None)
    more = len(kinds) - len(shown)
    yield Text(f"  {count(more, 'more kind')} of findings; {_REMARK}" if more > 0 else f"  {_REMARK}", style="dim")
    yield Text()


def _describe_whole(inspection: Inspection, width: int | None) -> Iterator[Text]:
    yield _heading(inspection.wheel)
    facts = ((label, values or ["none"]) for label, values in _list_facts(inspection).items())
    yield from _lay_out([(label, values if label in _LISTS else [", ".join(values)]) for label, values in facts], width)
    for library in sort_libraries(inspection):
        yield from (Text(), _heading(library.member))
        yield from _lay_out(_describe_library(library, inspection), width)
    yield from (Text(), _heading(f"files ({len(inspection.files)})"))
    yield from map(Text, _describe_files(inspection))
    yield from (Text(), _heading(f"findings ({len(inspection.findings)})"))
    found = (
        (entry.code, f"{entry.member}: {entry.text}" if entry.member else entry.text) for entry in inspection.findings
    )
    yield from _lay_out([(code, [text]) for code, text in found], width)
    yield Text()


def _describe_library(library: Library, inspection: Inspection) -> Iterator[Row]:
    """Yield what there is of a library, and how many values where not all are shown."""
    facts = {
        **describe_library(library, inspection),
        "sections": [f"{name} {describe_size(size)}" for name, size in library.sections],
    }
    for label, values in facts.items():
        if values:
            yield label, [(f"{len(values)}: " if len(values) > _SHOWN else "") + shorten(values, _SHOWN)]


def _describe_files(inspection: Inspection) -> Iterator[str]:
    """Yield a table of the largest files."""
    yield f"  {'size':>11}  in the wheel  path"
    for path, member in [*inspection.files.items()][:_FILES]:
        compressed = describe_size(inspection.compressed[path])
        yield f"  {describe_size(member.size):>11}  {compressed:>12}  {printable(path, None)}"
    if len(inspection.files) > _FILES:
        yield f"  and {len(inspection.files) - _FILES} smaller ones"


def _describe_comparison(comparison: Comparison, width: int | None) -> Iterator[Text]:
    a, b = comparison.a, comparison.b
    yield _heading(f"A {a.wheel}")
    yield _heading(f"B {b.wheel}")
    if comparison.same_bytes:
        yield Text(f"  the same bytes: {describe_size(a.size)}, sha256 {a.sha256}")
        return
    rows: list[Row] = [
        ("size", [_describe_change(a.size, b.size)]),
        ("installed", [_describe_change(a.installed_size, b.installed_size)]),
    ]
    by_library: dict[str, list[Row]] = {"": rows}
    for entry in comparison.differences:
        by_library.setdefault(entry.library, []).append(_describe_difference(entry, width))
    yield from _lay_out(by_library.pop(""), None)
    shown = list(by_library)[: None if width is None else _LIBRARIES]
    for library in shown:
        yield _heading(library)
        yield from _lay_out(by_library[library], None)
    if rest := list(by_library)[len(shown) :]:
        yield from _lay_out([("also differ", [fit_values(rest, width)])], None)
    equal = [*comparison.equal, *comparison.equal_libraries]
    yield from _lay_out([("equal", [fit_values(equal, width) or "nothing"])], None)
    if width is not None:
        yield Text(f"  {_REMARK}", style="dim")


def _describe_change(before: int, after: int) -> str:
    """Return two sizes and how far they are apart.

    >>> _describe_change(200_000_000, 150_000_000)
    '200.0 MB -> 150.0 MB (-25.0 %)'
    """
    share = f" ({100 * (after - before) / before:+.1f} %)" if before else ""
    return f"{describe_size(before)} -> {describe_size(after)}{share}"


def _describe_difference(difference: Difference, width: int | None) -> Row:
    """Return a difference in one line where both sides are one short value, else in a line for each side."""
    a, b = difference.only_a, difference.only_b
    if len(a) == len(b) == 1:
        line = f"{a[0]} -> {b[0]}"
        if fit_values([line], width) == line:
            return difference.about, [line]
    sides = (("-", a), ("+", b))
    return difference.about, [f"{mark} {fit_values(values, width and width - 2)}" for mark, values in sides if values]
