# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lay out an inspection for people: a few lists of names and values, readable from 80 columns on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pjrtwheel.elf.repair import describe_size
from pjrtwheel.inspect.facts import Inspection, LibraryFacts, PluginFacts, Remark

_SHOWN = 8
_LABEL = 22


def render_inspection(inspection: Inspection, console: Console) -> None:
    """Print everything about a wheel."""
    console.rule(Text(printable(inspection.wheel)), align="left")
    console.print(_make_list(_describe_wheel(inspection)))
    for library in sorted(inspection.libraries, key=_importance):
        console.print()
        console.print(Text(printable(library.member), style="bold"))
        console.print(_make_list(_describe_library(library)))
        if library.member in inspection.plugins:
            console.print(_make_list(_describe_plugin(inspection.plugins[library.member])))
    console.print()
    console.print(Text(f"files ({len(inspection.files)})", style="bold"))
    console.print(_make_files(inspection))
    console.print()
    console.print(Text(f"findings ({len(inspection.remarks)})", style="bold"))
    console.print(_make_list((remark.code, _describe_remark(remark)) for remark in inspection.remarks))


def printable(text: str) -> str:
    r"""Return a text without characters that a terminal would obey.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def shorten(values: Iterable[str], shown: int = _SHOWN) -> str:
    """Return a list in words, cut after some entries.

    >>> shorten(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    entries = list(values)
    more = f" and {len(entries) - shown} more" if len(entries) > shown else ""
    return ", ".join(entries[:shown]) + more


def _make_list(rows: Iterable[tuple[str, str]]) -> Table:
    """Return a table of two columns without lines: name and value."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(width=_LABEL, no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(f"  {name}", Text(printable(value)))
    return table


def _describe_wheel(inspection: Inspection) -> Iterator[tuple[str, str]]:
    lock = inspection.lock
    yield "project", f"{inspection.name} {inspection.version}: {inspection.summary}"
    yield "size", f"{describe_size(inspection.size)}, installed {describe_size(inspection.installed_size)}"
    yield "sha256", inspection.sha256
    yield "tags", ", ".join(inspection.tags) + (f", build {inspection.build}" if inspection.build else "")
    yield "purelib", {True: "true", False: "false", None: "not said"}[inspection.purelib]
    yield "Python", inspection.requires_python or "any"
    yield "lock", f"{lock.get('lock_id')}, provider {lock.get('provider')}" if lock else "none"
    yield "requires", "; ".join(inspection.requires) or "nothing"
    yield "extras", ", ".join(inspection.extras) or "none"
    yield "entry points", "; ".join(inspection.entry_points) or "none"
    yield "licence", inspection.license or "not said"
    yield "licence files", shorten(inspection.license_files) or "none"
    yield "SBOM", shorten(inspection.sboms) or "none"
    yield "needs", ", ".join(f"{family}_{version}" for family, version in inspection.floors().items()) or "no libc"
    yield "GPU code", ", ".join(inspection.gpu_code().names()) or "none"


def _describe_library(library: LibraryFacts) -> Iterator[tuple[str, str]]:
    code = library.gpu_code
    yield "sections", ", ".join(f"{name} {describe_size(size)}" for name, size in library.sections[:_SHOWN])
    yield "needs", ", ".join(library.needed) or "no library"
    if library.search_paths:
        yield library.search_kind, f"{len(library.search_paths)} elements: {shorten(library.search_paths, 4)}"
    yield "exports", f"{len(library.exports)}: {shorten(library.exports)}"
    yield "versions", ", ".join(f"{family}_{version}" for family, version in library.floors.items()) or "none"
    if code is None:
        yield "GPU code", f"not read: {library.gpu_problem}"
    elif code.names():
        yield "GPU code", ", ".join(code.names())


def _describe_plugin(plugin: PluginFacts) -> Iterator[tuple[str, str]]:
    if plugin.refused:
        yield "PJRT", f"not opened: {plugin.refused}"
        return
    yield "PJRT", f"{plugin.pjrt_api}, {plugin.slots} functions"
    yield "extensions", ", ".join(plugin.extensions)
    yield "attributes", ", ".join(f"{name}={_value(value)}" for name, value in (plugin.attributes or {}).items())


def _value(value: object) -> str:
    """Return an attribute's value; a list of numbers is a version."""
    return ".".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _describe_remark(remark: Remark) -> str:
    return f"{remark.member}: {remark.text}" if remark.member else remark.text


def _make_files(inspection: Inspection) -> Table:
    """Return a table of the largest files."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("size", "in the wheel"):
        table.add_column(f"  {name}", justify="right", no_wrap=True)
    table.add_column("path", overflow="fold")
    for file in inspection.files[: 3 * _SHOWN]:
        table.add_row(describe_size(file.size), describe_size(file.compressed), Text(printable(file.path)))
    rest = inspection.files[3 * _SHOWN :]
    if rest:
        sizes = (sum(file.size for file in rest), sum(file.compressed for file in rest))
        table.add_row(*map(describe_size, sizes), f"{len(rest)} more files")
    return table


def _importance(library: LibraryFacts) -> tuple[bool, str]:
    """Return a sorting key: plugins first."""
    return not library.is_plugin, library.member
