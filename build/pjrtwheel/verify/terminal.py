# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lay out all of an inspection for the terminal: lists of names and values, kernels of several Pythons once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console
from rich.text import Text

from pjrtwheel.elf.repair import describe_size
from pjrtwheel.errors import count, printable, shorten
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.verify import macho, pe
from pjrtwheel.verify.library import Library
from pjrtwheel.verify.model import Inspection, PluginDescription
from pjrtwheel.verify.pythons import fold_names, fold_values
from pjrtwheel.verify.reported import describe_format
from pjrtwheel.verify.rows import SHOWN, Row, heading, lay_out


def render_inspection(inspection: Inspection, console: Console, width: int | None = None) -> None:
    """Print everything about a wheel; lines end at `width` between two words, or nowhere when it is not given."""
    for line in _describe(inspection, width):
        console.print(line, soft_wrap=True)


def _describe(inspection: Inspection, width: int | None) -> Iterator[Text]:
    yield heading(inspection.wheel)
    yield from lay_out(_describe_wheel(inspection), width)
    for name, rows in _describe_libraries(inspection):
        yield from (Text(), heading(name))
        yield from lay_out(rows, width)
    yield from (Text(), heading(f"files ({len(inspection.files)})"))
    yield from map(Text, _describe_files(inspection))
    yield from (Text(), heading(f"findings ({len(inspection.findings)})"))
    yield from lay_out(_describe_findings(inspection), width)
    yield Text()


def _describe_wheel(inspection: Inspection) -> Iterator[Row]:
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
    yield "licence files", [shorten(inspection.license_files, SHOWN) or "none"]
    yield "SBOM", [shorten(inspection.sboms, SHOWN) or "none"]
    yield "libraries", [*describe_formats(inspection.libraries)] or ["none"]
    yield "needs", [describe_versions(inspection.floors()) or "no libc"]
    yield "GPU code", [", ".join(inspection.gpu_code().names()) or "none"]


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
        yield name, [*rows, *((label, [text]) for plugin in opened for label, text in describe_plugin(plugin))]


def _describe_library(library: Library) -> Iterator[tuple[str, str]]:
    code = library.gpu_code
    yield "format", _describe_kind(library)
    yield "sections", ", ".join(f"{name} {describe_size(size)}" for name, size in library.sections[:SHOWN])
    yield "needs", ", ".join(library.needed) or "no library"
    if library.search_paths:
        yield library.search_kind, f"{count(len(library.search_paths), 'element')}: {shorten(library.search_paths, 4)}"
    yield "exports", f"{len(library.exports)}: {shorten(library.exports, SHOWN)}"
    yield "versions", describe_versions(library.floors) or "none"
    if code is None:
        yield "GPU code", f"not read: {library.gpu_problem}"
    elif code.names():
        yield "GPU code", ", ".join(code.names())


def describe_formats(libraries: Iterable[Library]) -> Iterator[str]:
    """Yield how many libraries there are of each kind, such as `33 Mach-O for arm64, signed ad hoc`."""
    for kind, number in Counter(map(_describe_kind, libraries)).items():
        yield f"{number} {kind}"


def _describe_kind(library: Library) -> str:
    """Return format, processor and signature; nobody signs ELF files."""
    signed = library.binary_format is not BinaryFormat.ELF
    signature = f"signed {library.signature}" if library.signature else "not signed"
    return describe_format(library) + (f", {signature}" if signed else "")


def describe_versions(floors: Mapping[str, str]) -> str:
    """Return versions of symbols as a linker writes them, versions of a system in words."""
    systems = {macho.SYSTEM, pe.SYSTEM}
    return ", ".join(
        f"{family} {version} or newer" if family in systems else f"{family}_{version}"
        for family, version in floors.items()
    )


def describe_plugin(plugin: PluginDescription) -> Iterator[tuple[str, str]]:
    """Yield what a plugin said once it was opened, by subject."""
    if plugin.refused:
        yield "PJRT", f"not opened: {plugin.refused}"
        return
    yield "PJRT", f"{plugin.pjrt_api}, {plugin.slots} functions"
    yield "extensions", ", ".join(plugin.extensions)
    yield "attributes", ", ".join(f"{name}={_value(value)}" for name, value in (plugin.attributes or {}).items())


def _value(value: object) -> str:
    """Return an attribute's value; a list of numbers is a version."""
    return ".".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


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
    rest = [pair for _, pairs in rows[3 * SHOWN :] for pair in pairs]
    shown = [*rows[: 3 * SHOWN], *([(f"{len(rest)} more files", rest)] if rest else [])]
    yield f"  {'size':>11}  in the wheel  path"
    for name, pairs in shown:
        size, compressed = (describe_size(sum(column)) for column in zip(*pairs, strict=True))
        yield f"  {size:>11}  {compressed:>12}  {printable(name, None)}"
