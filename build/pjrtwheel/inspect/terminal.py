# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lay out an inspection for the terminal: lists of names and values, kernels of several Pythons once.

A word that somebody may want to copy, such as a hash, a path or the name of a wheel, is never broken. Where it is
longer than the terminal is wide, the terminal goes on in the next row. What is piped has every value on one line.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from pjrtwheel.elf.repair import describe_size
from pjrtwheel.errors import count, printable, shorten
from pjrtwheel.inspect.findings import describe_format
from pjrtwheel.inspect.model import Inspection, PluginDescription
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.verify import macho, pe
from pjrtwheel.verify.library import Library

_SHOWN = 8
# With it a sha256 ends in the 80th column.
_LABEL = 14

# A module that one CPython alone imports (PEP 3149), such as `_solver.cpython-312-x86_64-linux-gnu.so`.
_MODULE = re.compile(r"(?P<before>.*\.cpython-)(?P<python>\d+t?)(?P<after>-.*)")


# A name, and its values: each begins a line.
_Row = tuple[str, Sequence[str]]


def render_inspection(inspection: Inspection, console: Console, width: int | None = None) -> None:
    """Print everything about a wheel; lines end at `width` between two words, or nowhere when it is not given."""
    for line in _describe(inspection, width):
        console.print(line, soft_wrap=True)


def _describe(inspection: Inspection, width: int | None) -> Iterator[Text]:
    yield _heading(inspection.wheel)
    yield from _lay_out(_describe_wheel(inspection), width)
    for name, rows in _describe_libraries(inspection):
        yield from (Text(), _heading(name))
        yield from _lay_out(rows, width)
    yield from (Text(), _heading(f"files ({len(inspection.files)})"))
    yield from map(Text, _describe_files(inspection))
    yield from (Text(), _heading(f"findings ({len(inspection.findings)})"))
    yield from _lay_out(_describe_findings(inspection), width)
    yield Text()


def _heading(text: str) -> Text:
    return Text(printable(text, None), style="bold")


def _lay_out(rows: Iterable[_Row], width: int | None) -> Iterator[Text]:
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


def _describe_wheel(inspection: Inspection) -> Iterator[_Row]:
    lock = inspection.lock
    yield "project", [f"{inspection.name} {inspection.version}: {inspection.summary}"]
    yield "size", [f"{describe_size(inspection.size)}, installed {describe_size(inspection.installed_size)}"]
    yield "sha256", [inspection.sha256]
    yield "tags", [", ".join(inspection.tags) + (f", build {inspection.build}" if inspection.build else "")]
    yield "purelib", [{True: "true", False: "false", None: "not said"}[inspection.purelib]]
    yield "Python", [inspection.requires_python or "any"]
    yield "lock", [f"{lock.get('lock_id')}, provider {lock.get('provider')}" if lock else "none"]
    yield "requires", inspection.requires or ["nothing"]
    yield "extras", [", ".join(inspection.extras) or "none"]
    yield "entry points", inspection.entry_points or ["none"]
    yield "licence", [inspection.license or "not said"]
    yield "licence files", [shorten(inspection.license_files, _SHOWN) or "none"]
    yield "SBOM", [shorten(inspection.sboms, _SHOWN) or "none"]
    yield "libraries", [*_describe_formats(inspection.libraries)] or ["none"]
    yield "needs", [_versions(inspection.floors()) or "no libc"]
    yield "GPU code", [", ".join(inspection.gpu_code().names()) or "none"]


def _describe_libraries(inspection: Inspection) -> Iterator[tuple[str, list[_Row]]]:
    """Yield the name of each library, plugins first, and what there is to say; modules of several Pythons at once."""
    libraries = {
        library.member: library
        for library in sorted(inspection.libraries, key=lambda library: (not library.is_plugin, library.member))
    }
    for name, members in fold_names(libraries).items():
        each = {python: dict(_describe_library(libraries[member])) for python, member in members.items()}
        labels = dict.fromkeys(label for rows in each.values() for label in rows)
        rows: list[_Row] = [
            (label, _fold_values({python: rows.get(label, "none") for python, rows in each.items()}))
            for label in labels
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
    yield "versions", _versions(library.floors) or "none"
    if code is None:
        yield "GPU code", f"not read: {library.gpu_problem}"
    elif code.names():
        yield "GPU code", ", ".join(code.names())


def _describe_formats(libraries: Iterable[Library]) -> Iterator[str]:
    """Yield how many libraries there are of each kind, such as `33 Mach-O for arm64, signed ad hoc`."""
    for kind, number in Counter(map(_describe_kind, libraries)).items():
        yield f"{number} {kind}"


def _describe_kind(library: Library) -> str:
    """Return format, processor and signature; nobody signs ELF files."""
    signed = library.binary_format is not BinaryFormat.ELF
    signature = f"signed {library.signature}" if library.signature else "not signed"
    return describe_format(library) + (f", {signature}" if signed else "")


def _versions(floors: Mapping[str, str]) -> str:
    """Return versions of symbols as a linker writes them, versions of a system in words."""
    systems = {macho.SYSTEM, pe.SYSTEM}
    return ", ".join(
        f"{family} {version} or newer" if family in systems else f"{family}_{version}"
        for family, version in floors.items()
    )


def _describe_plugin(plugin: PluginDescription) -> Iterator[tuple[str, str]]:
    if plugin.refused:
        yield "PJRT", f"not opened: {plugin.refused}"
        return
    yield "PJRT", f"{plugin.pjrt_api}, {plugin.slots} functions"
    yield "extensions", ", ".join(plugin.extensions)
    yield "attributes", ", ".join(f"{name}={_value(value)}" for name, value in (plugin.attributes or {}).items())


def _value(value: object) -> str:
    """Return an attribute's value; a list of numbers is a version."""
    return ".".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _describe_findings(inspection: Inspection) -> Iterator[_Row]:
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


def fold_names(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Put names together that differ in the version of CPython alone, under one as a shell would take it apart.

    A name for all that is a file's own as well, as in a hostile wheel, would hide that file: those that it would stand
    for keep theirs.

    >>> fold_names(["a.cpython-312-x.so", "b.so", "a.cpython-313-x.so"])
    {'a.cpython-{312,313}-x.so': {'312': 'a.cpython-312-x.so', '313': 'a.cpython-313-x.so'}, 'b.so': {'': 'b.so'}}
    """
    known = dict.fromkeys(names)
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for name in known:
        match = _MODULE.fullmatch(name)
        stem, python = ((match["before"], match["after"]), match["python"]) if match else ((name, ""), "")
        groups.setdefault(stem, {})[python] = name
    labels = {stem: _label(*stem, group) for stem, group in groups.items()}
    claims = Counter([*known, *(label for stem, label in labels.items() if len(groups[stem]) > 1)])
    folded: dict[str, dict[str, str]] = {}
    for stem, group in groups.items():
        alone = {name: {python: name} for python, name in group.items()}
        folded |= {labels[stem]: group} if claims[labels[stem]] == 1 else alone
    return folded


def _fold_values(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return what holds for several Pythons: one line if it is the same for all, else one for each value.

    >>> _fold_values({"312": "a", "313": "a"}), _fold_values({"312": "a", "313": "b", "314": "a"})
    (('a',), ('312, 314: a', '313: b'))
    """
    pythons: dict[str, list[str]] = {}
    for python, value in values.items():
        pythons.setdefault(value, []).append(python)
    if len(pythons) == 1:
        return tuple(pythons)
    return tuple(f"{', '.join(several)}: {value}" for value, several in pythons.items())


def _label(before: str, after: str, pythons: Iterable[str]) -> str:
    """Return a name for all, with several versions as a shell's brace expansion has them."""
    several = sorted(pythons)
    return f"{before}{{{','.join(several)}}}{after}" if len(several) > 1 else f"{before}{several[0]}{after}"
