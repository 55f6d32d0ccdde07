# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The findings about one library: values in, findings out. Their codes are listed in verify/codes.py."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pjrtwheel.elf import Place
from pjrtwheel.elf.repair import describe_size
from pjrtwheel.elf.searchpath import ABSOLUTE, BUILD_TREE, OUTSIDE, RELATIVE, REPEATED, clean_search_path
from pjrtwheel.elf.segments import largest_page
from pjrtwheel.inspect.facts import ENTRY_POINT, LibraryFacts
from pjrtwheel.verify.finding import Finding

_NAMED = 3
_INITIALIZER = "PyInit_"
# Made by the linker, and the same in every library that has them.
_OF_THE_LINKER = re.compile(r"__(start|stop)_\w+|_init|_fini")
_CODES = {
    REPEATED: "rpath-repeated",
    ABSOLUTE: "rpath-absolute",
    OUTSIDE: "rpath-outside",
    RELATIVE: "rpath-relative",
    BUILD_TREE: "rpath-build-tree",
}


def find_library_findings(
    library: LibraryFacts, exports: Mapping[str, Sequence[str]], linked: Collection[str]
) -> Iterator[Finding]:
    """Yield every finding about a library.

    Args:
        library: The library.
        exports: File name of a known plugin library → the symbols it may define.
        linked: What the libraries of the wheel are linked to.
    """
    findings = (*_sections(library), *_search_path(library), *_exports(library, exports, linked), *_segments(library))
    yield from (Finding(code, library.member, text) for code, text in findings)
    if library.gpu_problem:
        yield Finding("gpu-code", library.member, f"its GPU code was not read: {library.gpu_problem}")


def _sections(library: LibraryFacts) -> Iterator[tuple[str, str]]:
    """Nothing that no loader reads."""
    if library.unneeded:
        size = describe_size(library.unneeded_bytes)
        yield "symbols", f"holds {size} that no loader reads: {', '.join(library.unneeded)}"


def _search_path(library: LibraryFacts) -> Iterator[tuple[str, str]]:
    """Each element once, and none that leads out of the environment."""
    if not library.search_paths:
        return
    place = Place(depth=library.member.count("/"))
    cleaned = clean_search_path(":".join(library.search_paths), place)
    for reason, code in _CODES.items():
        if cleaned.dropped[reason]:
            total = len(library.search_paths)
            yield code, f"{cleaned.dropped[reason]} of {total} {library.search_kind} elements are {reason}"


def _exports(
    library: LibraryFacts, known: Mapping[str, Sequence[str]], linked: Collection[str]
) -> Iterator[tuple[str, str]]:
    """A library defines nothing but its entry points, unless others of the wheel are linked to it."""
    name = library.member.rsplit("/", 1)[-1]
    reason = "beyond its entry points"
    if library.is_plugin:
        allowed = set(known.get(name, (ENTRY_POINT,)))
    elif initializers := {symbol for symbol in library.exports if symbol.startswith(_INITIALIZER)}:
        allowed = initializers
    elif name in linked or library.soname in linked:
        return
    else:
        allowed, reason = set(), "though no library of the wheel is linked to it"
    extra = [symbol for symbol in library.exports if symbol not in allowed and not _OF_THE_LINKER.fullmatch(symbol)]
    if extra:
        more = f" and {len(extra) - _NAMED} more" if len(extra) > _NAMED else ""
        yield "exports", f"defines {len(extra)} symbols for others {reason}: {', '.join(extra[:_NAMED])}{more}"


def _segments(library: LibraryFacts) -> Iterator[tuple[str, str]]:
    """No executable stack, and an alignment that every kernel accepts."""
    if library.executable_stack:
        yield "executable-stack", "asks for an executable stack"
    page = largest_page(library.machine)
    if library.alignment < page:
        yield "alignment", f"has segments aligned to {library.alignment:#x}: kernels with pages of {page:#x} refuse it"
