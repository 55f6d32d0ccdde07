# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Print what is known of wheels: one in short or as a whole, and in what two differ.

All of it is rows of a name and its values. A word that somebody may want to copy, such as a hash, a path or the name of
a wheel, is never broken. What is piped has every value on one line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from pjrtwheel.binaries import Library
from pjrtwheel.console import fold_text
from pjrtwheel.errors import count, describe_size, printable, shorten
from pjrtwheel.verify.compare import (
    Comparison,
    Difference,
    count_findings,
    describe_library,
    describe_wheel,
    sort_libraries,
)
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.inspection import Inspection
from pjrtwheel.verify.libraries import describe_format

_SHOWN = 8
_FILES = 24  # that are listed of a wheel
_FINDINGS = 6  # that are shown of a wheel in short
_LIBRARIES = 2  # whose differences are shown
_REMARK = "--verbose shows all of it, --json for programs"
_LABEL = 14  # with it a sha256 ends in the 80th column
# What those who are in a hurry do not look for.
_DETAILS = {"build tag", "purelib", "extras", "licence", "licence files", "SBOM"}
# Of which each value begins a line.
_LISTS = {"requires", "entry points", "outside", "libraries"}

# A name, and its values: each begins a line.
Row = tuple[str, Sequence[str]]


def print_lines(lines: Iterable[str], console: Console, width: int | None = None) -> None:
    """Print lines, headings in bold; they end at `width` between two words, or nowhere when it is not given."""
    for line in lines:
        shown = fold_text(line, width) if width else line
        console.print(Text(shown, style="" if line.startswith(" ") else "bold"), soft_wrap=True)


def _lay_out(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of rows, with all values in one column."""
    table = list(rows)
    label = max([_LABEL, *(len(name) + 1 for name, _ in table)])
    for name, values in table:
        for number, value in enumerate(values):
            yield f"  {'' if number else name:<{label}}{printable(value, None)}"


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
    facts = describe_wheel(inspection)
    return {
        "project": facts["project"],
        "size": [size],
        "sha256": [inspection.sha256],
        **facts,
        "libraries": [f"{number} {kind}" for kind, number in kinds.items()],
    }


def _list_findings(findings: Iterable[Finding]) -> list[Row]:
    return [(entry.code, [f"{entry.member}: {entry.text}" if entry.member else entry.text]) for entry in findings]


def summarize_wheel(inspection: Inspection, width: int) -> Iterator[str]:
    """Yield the verdict about a wheel, what it is, and its first findings, on one screen."""
    codes = count_findings(inspection)
    verdict = f"{count(len(inspection.findings), 'finding')}: {', '.join(codes)}" if codes else "no findings"
    facts = {"verdict": [verdict], **_list_facts(inspection)}
    rows = [(label, values) for label, values in facts.items() if label not in _DETAILS]
    for library in filter(lambda library: library.is_plugin, inspection.libraries):
        rows += [("plugin", [library.member]), ("exports", library.exports)]
        rows += [(library.search_kind, library.search_paths)] if library.search_paths else []
    yield printable(inspection.wheel, None)
    uncut = {"size", "sha256", "lock"}
    shortened = ((label, fit_values(values or ["none"], None if label in uncut else width)) for label, values in rows)
    yield from _lay_out((label, [text]) for label, text in shortened)
    kinds = {finding.code: finding for finding in reversed(inspection.findings)}
    shown = _list_findings(sorted(kinds.values(), key=inspection.findings.index)[:_FINDINGS])
    used = 3 + max([_LABEL - 1, *(len(code) for code, _ in shown)])
    yield from _lay_out((code, [fit_values(texts, width, used=used)]) for code, texts in shown)
    more = len(kinds) - len(shown)
    yield f"  {count(more, 'more kind')} of findings; {_REMARK}" if more > 0 else f"  {_REMARK}"
    yield ""


def describe_whole(inspection: Inspection) -> Iterator[str]:
    """Yield everything about a wheel."""
    yield printable(inspection.wheel, None)
    facts = ((label, values or ["none"]) for label, values in _list_facts(inspection).items())
    yield from _lay_out((label, values if label in _LISTS else [", ".join(values)]) for label, values in facts)
    for library in sort_libraries(inspection):
        yield from ("", printable(library.member, None), *_lay_out(_describe_library(library)))
    yield from ("", f"files ({len(inspection.files)})", *_describe_files(inspection))
    yield from ("", f"findings ({len(inspection.findings)})", *_lay_out(_list_findings(inspection.findings)), "")


def _describe_library(library: Library) -> Iterator[Row]:
    """Yield what there is of a library, and how many values where not all are shown."""
    facts = {
        **describe_library(library),
        "sections": [f"{name} {describe_size(size)}" for name, size in library.sections],
    }
    for label, values in facts.items():
        if values:
            yield label, [(f"{len(values)}: " if len(values) > _SHOWN else "") + shorten(values, _SHOWN)]


def _describe_files(inspection: Inspection) -> Iterator[str]:
    """Yield a table of the largest files."""
    yield f"  {'size':>11}  in the wheel  path"
    for file in inspection.files[:_FILES]:
        yield f"  {describe_size(file.size):>11}  {describe_size(file.compressed):>12}  {printable(file.path, None)}"
    if len(inspection.files) > _FILES:
        yield f"  and {len(inspection.files) - _FILES} smaller ones"


def describe_comparison(comparison: Comparison, width: int | None) -> Iterator[str]:
    """Yield in what two wheels differ, whole, or each difference on a line of `width`."""
    a, b = comparison.a, comparison.b
    yield from (f"A {printable(a.wheel, None)}", f"B {printable(b.wheel, None)}")
    if comparison.same_bytes:
        yield f"  the same bytes: {describe_size(a.size)}, sha256 {a.sha256}"
        return
    rows: list[Row] = [
        ("size", [_describe_change(a.size, b.size)]),
        ("installed", [_describe_change(a.installed_size, b.installed_size)]),
    ]
    by_library: dict[str, list[Row]] = {"": rows}
    for entry in comparison.differences:
        by_library.setdefault(entry.library, []).append(_describe_difference(entry, width))
    yield from _lay_out(by_library.pop(""))
    shown = list(by_library)[: None if width is None else _LIBRARIES]
    for library in shown:
        yield from (printable(library, None), *_lay_out(by_library[library]))
    if rest := list(by_library)[len(shown) :]:
        yield from _lay_out([("also differ", [fit_values(rest, width)])])
    if width is not None:
        yield f"  {_REMARK}"


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
