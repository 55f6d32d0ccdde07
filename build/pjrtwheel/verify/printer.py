# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Print what is known of wheels: one in short or as a whole, and in what two differ.

All of it is rows of a name and its values. A word that somebody may want to copy, such as a hash, a path or the name of
a wheel, is never broken. What is piped has every value on one line.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from pjrtwheel.binaries import Library, macho, pe
from pjrtwheel.errors import count, describe_size, printable, shorten
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.verify.compare import Comparison, Difference, count_findings, fold_names, fold_values
from pjrtwheel.verify.inspection import Inspection, PluginDescription
from pjrtwheel.verify.libraries import describe_format

_SHOWN = 8
_FINDINGS = 6  # that are shown of a wheel in short
_LIBRARIES = 2  # whose differences are shown
_REMARK = "--verbose shows all of it, --json for programs"
_WIDTH = 80  # where nobody says how wide the terminal is
_LABEL = 14  # with it a sha256 ends in the 80th column
# What those who are in a hurry do not look for.
_DETAILS = ("purelib", "extras", "licence", "licence files", "SBOM")

# A name, and its values: each begins a line.
Row = tuple[str, Sequence[str]]


class _Fact(NamedTuple):
    """Values of a wheel: one a line, or all on one line where they are `joined`; what is said where there are none."""

    label: str
    values: Sequence[str]
    absent: str = "none"
    joined: bool = True


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


def _list_facts(inspection: Inspection) -> Iterator[_Fact]:
    lock, build = inspection.lock, [f"build {inspection.build}"] * bool(inspection.build)
    size = f"{describe_size(inspection.size)}, installed {describe_size(inspection.installed_size)}"
    yield _Fact("project", [f"{inspection.name} {inspection.version}: {inspection.summary}"])
    yield _Fact("size", [size])
    yield _Fact("sha256", [inspection.sha256])
    yield _Fact("tags", [*inspection.tags, *build])
    yield _Fact("purelib", [{True: "true", False: "false", None: "not said"}[inspection.purelib]])
    yield _Fact("Python", [inspection.requires_python or "any"])
    yield _Fact("lock", [f"{lock.get('lock_id')}, provider {lock.get('provider')}"] if lock else [])
    yield _Fact("requires", inspection.requires, "nothing", joined=False)
    yield _Fact("extras", inspection.extras)
    yield _Fact("entry points", inspection.entry_points, joined=False)
    yield _Fact("licence", [inspection.license or "not said"])
    yield _Fact("licence files", [shorten(inspection.license_files, _SHOWN)] if inspection.license_files else [])
    yield _Fact("SBOM", [shorten(inspection.sboms, _SHOWN)] if inspection.sboms else [])
    kinds = Counter(map(_describe_kind, inspection.libraries))
    yield _Fact("libraries", [f"{number} {kind}" for kind, number in kinds.items()], joined=False)
    yield _Fact("needs", [_describe_versions(inspection.floors()) or "no libc"])
    yield _Fact("GPU code", inspection.gpu_code().names())


def _summarize(inspection: Inspection, width: int) -> Iterator[Text]:
    codes = count_findings(inspection)
    verdict = f"{count(len(inspection.findings), 'finding')}: {', '.join(codes)}" if codes else "no findings"
    facts = [_Fact("verdict", [verdict]), *(fact for fact in _list_facts(inspection) if fact.label not in _DETAILS)]
    for library in filter(lambda library: library.is_plugin, inspection.libraries):
        facts += [_Fact("plugin", [library.member]), _Fact("exports", library.exports)]
        facts += [_Fact(library.search_kind, library.search_paths)] if library.search_paths else []
    for plugin in inspection.plugins.values():
        facts += [_Fact(label, [text]) for label, text in _describe_plugin(plugin)]
    yield _heading(inspection.wheel)
    uncut = {"size", "sha256", "lock"}
    rows = (
        (fact.label, [fit_values(fact.values or [fact.absent], None if fact.label in uncut else width)])
        for fact in facts
    )
    yield from _lay_out(rows, None)
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
    for fact in _list_facts(inspection):
        values = fact.values or [fact.absent]
        yield from _lay_out([(fact.label, [", ".join(values)] if fact.joined else values)], width)
    for name, rows in _describe_libraries(inspection):
        yield from (Text(), _heading(name))
        yield from _lay_out(rows, width)
    yield from (Text(), _heading(f"files ({len(inspection.files)})"))
    yield from map(Text, _describe_files(inspection))
    yield from (Text(), _heading(f"findings ({len(inspection.findings)})"))
    yield from _lay_out(_describe_findings(inspection), width)
    yield Text()


def _describe_libraries(inspection: Inspection) -> Iterator[tuple[str, list[Row]]]:
    """Yield the name of each library, plugins first, and what there is to say; modules of several Pythons at once."""
    libraries = {
        library.member: library
        for library in sorted(inspection.libraries, key=lambda library: (not library.is_plugin, library.member))
    }
    for name, members in fold_names(libraries).items():
        each = {python: dict(_describe_library(libraries[member])) for python, member in members.items()}
        labels = dict.fromkeys(label for rows in each.values() for label in rows)
        rows: list[Row] = [
            (label, fold_values({python: rows.get(label, "none") for python, rows in each.items()})) for label in labels
        ]
        opened = (inspection.plugins[member] for member in members.values() if member in inspection.plugins)
        yield name, [*rows, *((label, [text]) for plugin in opened for label, text in _describe_plugin(plugin))]


def _describe_library(library: Library) -> Iterator[tuple[str, str]]:
    code = library.gpu_code
    yield "format", _describe_kind(library)
    yield "sections", ", ".join(f"{name} {describe_size(size)}" for name, size in library.sections[:_SHOWN])
    yield "needs", ", ".join(library.needed) or "no library"
    if library.search_paths:
        yield library.search_kind, f"{count(len(library.search_paths), 'element')}: {shorten(library.search_paths, 4)}"
    yield "exports", f"{len(library.exports)}: {shorten(library.exports, _SHOWN)}"
    yield "versions", _describe_versions(library.floors) or "none"
    if code is None:
        yield "GPU code", f"not read: {library.gpu_problem}"
    elif code.names():
        yield "GPU code", ", ".join(code.names())


def _describe_kind(library: Library) -> str:
    """Return format, processor and signature; nobody signs ELF files."""
    signed = library.binary_format is not BinaryFormat.ELF
    signature = f"signed {library.signature}" if library.signature else "not signed"
    return describe_format(library) + (f", {signature}" if signed else "")


def _describe_versions(floors: Mapping[str, str]) -> str:
    """Return versions of symbols as a linker writes them, versions of a system in words."""
    systems = {macho.SYSTEM, pe.SYSTEM}
    return ", ".join(
        f"{family} {version} or newer" if family in systems else f"{family}_{version}"
        for family, version in floors.items()
    )


def _describe_plugin(plugin: PluginDescription) -> Iterator[tuple[str, str]]:
    """Yield what a plugin said once it was opened, by subject; a list of numbers is a version."""
    if plugin.refused:
        yield "PJRT", f"not opened: {plugin.refused}"
        return
    values = {
        name: ".".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        for name, value in (plugin.attributes or {}).items()
    }
    yield "PJRT", f"{plugin.pjrt_api}, {plugin.slots} functions"
    yield "extensions", ", ".join(plugin.extensions)
    yield "attributes", ", ".join(f"{name}={value}" for name, value in values.items())


def _describe_findings(inspection: Inspection) -> Iterator[Row]:
    """Yield each finding; what is said of a module for several Pythons is said once."""
    groups: dict[tuple[str, str], list[str]] = {}
    for finding in inspection.findings:
        groups.setdefault((finding.code, finding.text), []).append(finding.member)
    for (code, text), members in groups.items():
        yield from ((code, [f"{name}: {text}" if name else text]) for name in fold_names(members))


def _describe_files(inspection: Inspection) -> Iterator[str]:
    """Yield a table of the largest files, those of several Pythons in one row."""
    sizes = {path: (member.size, inspection.compressed[path]) for path, member in inspection.files.items()}
    rows = [(name, [sizes[path] for path in paths.values()]) for name, paths in fold_names(sizes).items()]
    rows.sort(key=lambda row: -sum(size for size, _ in row[1]))
    rest = [pair for _, pairs in rows[3 * _SHOWN :] for pair in pairs]
    shown = [*rows[: 3 * _SHOWN], *([(f"{len(rest)} more files", rest)] if rest else [])]
    yield f"  {'size':>11}  in the wheel  path"
    for name, pairs in shown:
        size, compressed = (describe_size(sum(column)) for column in zip(*pairs, strict=True))
        yield f"  {size:>11}  {compressed:>12}  {printable(name, None)}"


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
