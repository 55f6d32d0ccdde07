# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a wheel and its libraries: values in, findings out. Their codes: verify/findings.py."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pjrtwheel.elf import LibraryPlace
from pjrtwheel.elf.layout import largest_page
from pjrtwheel.elf.repair import describe_size
from pjrtwheel.elf.search_path import ABSOLUTE, BUILD_TREE, OUTSIDE, RELATIVE, REPEATED, clean_search_path
from pjrtwheel.errors import shorten
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.verify import documents, macho, pe
from pjrtwheel.verify.checkers import parse_platform_tag
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.findings import Finding, name_problems
from pjrtwheel.verify.library import ENTRY_POINT, Library
from pjrtwheel.verify.model import Inspection
from pjrtwheel.wheel.metadata import find_requirement
from pjrtwheel.wheel.names import parse_name

_NAMED_PROJECTS = 5
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)""")
_NAMED_SYMBOLS = 3
_INITIALIZERS = ("PyInit_", "PyModExport_")  # what CPython calls in a module (PEP 489, PEP 793)
# Made by the linker, and the same in every library that has them.
_OF_THE_LINKER = re.compile(r"__(start|stop)_\w+|_init|_fini")
_CODES = {
    REPEATED: "rpath-repeated",
    ABSOLUTE: "rpath-absolute",
    OUTSIDE: "rpath-outside",
    RELATIVE: "rpath-relative",
    BUILD_TREE: "rpath-build-tree",
}


def find_wheel_findings(inspection: Inspection, contents: WheelContents) -> Iterator[Finding]:
    """Yield every finding about the wheel as a whole."""
    yield from _archive(contents)
    yield from _platform(inspection)
    yield from _licenses(contents)
    yield from _requirements(inspection)
    yield from _ties(inspection)


def _archive(contents: WheelContents) -> Iterator[Finding]:
    for code, check in (
        ("member-name", documents.check_names),
        ("record", documents.check_record),
        ("metadata", documents.check_metadata),
    ):
        yield from name_problems(code, check(contents))


def _platform(inspection: Inspection) -> Iterator[Finding]:
    """A wheel with libraries is no pure one, and its platform tag promises the system that they need."""
    if not inspection.libraries:
        return
    if inspection.purelib is not False:
        yield Finding("purelib", "", "does not say Root-Is-Purelib: false, though it holds libraries")
    needed = inspection.floors().get("GLIBC", "")
    for platform in sorted({tag.rsplit("-", 1)[1] for tag in inspection.tags}):
        floor = parse_platform_tag(platform)
        if floor is None:
            yield Finding("platform-floor", "", f"claims platform {platform!r}, which promises no libc version")
        elif needed and floor[0] == "manylinux" and tuple(map(int, needed.split("."))) > floor[1]:
            yield Finding("glibc", "", f"claims platform {platform!r}, and needs GLIBC_{needed}")
        for library in inspection.libraries:
            yield from name_problems("macos", macho.compare_system(library, platform))
    yield from _architectures(inspection)


def _architectures(inspection: Inspection) -> Iterator[Finding]:
    """Every library is for the system and the one processor of the platform tag."""
    platform = parse_name(inspection.wheel).platform
    expected = (platform.binary_format, platform.machine) if platform else None
    for library in inspection.libraries:
        if expected and (library.binary_format, library.machine) != expected:
            text = f"is {describe_format(library)}, expected {' for '.join(expected)}"
            yield Finding("architecture", library.member, text)


def describe_format(library: Library) -> str:
    """Return format and processor of a library, such as `ELF for EM_X86_64`."""
    return f"{library.binary_format} for {library.machine}"


def _licenses(contents: WheelContents) -> Iterator[Finding]:
    """Licence files and a licence expression (PEP 639), and a bill of materials (PEP 770)."""
    yield from (Finding("license-file", "", text) for _, text in documents.check_licenses(contents))
    headers = contents.headers("METADATA")
    if headers.get("License") is not None and headers.get("License-Expression") is None:
        yield Finding("license-field", "", "states its licence in the deprecated field License (PEP 639)")
    classifiers = [line for line in headers.get_all("Classifier", []) if line.startswith("License ::")]
    if classifiers:
        yield Finding("license-field", "", f"states its licence in a classifier: {classifiers[0]!r} (PEP 639)")
    yield from (Finding("sbom", "", text) for _, text in documents.check_sbom(contents))


def _requirements(inspection: Inspection) -> Iterator[Finding]:
    """Every requirement can be read, comes from an index, and belongs to an extra that there is."""
    extras = {canonicalize_name(extra) for extra in inspection.extras}
    open_names = []
    for line in inspection.requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement as error:
            yield Finding(
                "requires", "", f"requires {line!r}, which no installer can read: {str(error).splitlines()[0]}"
            )
            continue
        if requirement.url:
            yield Finding("requires", "", f"requires {line!r}, which a package index cannot resolve")
        elif not requirement.specifier:
            open_names.append(requirement.name)
        if set(map(canonicalize_name, _EXTRA.findall(str(requirement.marker or "")))) - extras:
            yield Finding("requires", "", f"requires {line!r} for an extra that it does not provide")
    if open_names:
        yield Finding("requires-any-version", "", f"accepts every version of {shorten(open_names, _NAMED_PROJECTS)}")


def _ties(inspection: Inspection) -> Iterator[Finding]:
    """A plugin belongs to exactly one jaxlib."""
    if inspection.libraries and inspection.lock is None:
        yield Finding("lock", "", "holds no release lock, so it cannot tell a jaxlib of other inputs from its own")
    if any(library.is_plugin for library in inspection.libraries) and not find_requirement(
        inspection.requires, "jaxlib"
    ):
        yield Finding("jaxlib-version", "", "requires no exact jaxlib, so installers combine it with any")


def find_library_findings(
    library: Library, exports: Mapping[str, Sequence[str]], linked: Collection[str]
) -> Iterator[Finding]:
    """Yield every finding about a library.

    `exports` has the symbols that known plugin libraries may define, by file name; `linked` is what the libraries of
    the wheel are linked to.
    """
    found = {
        BinaryFormat.ELF: partial(_of_elf, library, exports, linked),
        BinaryFormat.MACH_O: partial(_of_macho, library),
        BinaryFormat.PE: partial(_of_pe, library),
    }[library.binary_format]()
    yield from (Finding(code, library.member, text) for code, text in found)
    if library.gpu_problem:
        yield Finding("gpu-code", library.member, f"its GPU code was not read: {library.gpu_problem}")


def _of_elf(
    library: Library, exports: Mapping[str, Sequence[str]], linked: Collection[str]
) -> Iterator[tuple[str, str]]:
    yield from _sections(library)
    yield from _search_path(library)
    yield from _exports(library, exports, linked)
    yield from _segments(library)


# Symbols of libraries of macOS and Windows cannot collide: each is linked to by library and name.
def _of_macho(library: Library) -> Iterator[tuple[str, str]]:
    yield from _search_path(library)
    if library.signature_problem:
        yield "signature", f"has a signature that macOS refuses: {library.signature_problem}"
    elif not library.signature:
        yield "signature", "is not signed, which macOS on Apple's processors demands"


def _of_pe(library: Library) -> Iterator[tuple[str, str]]:
    missing = [name for name in library.needed if name.lower() in pe.REDISTRIBUTABLE]
    if missing:
        yield "runtime", f"needs {', '.join(missing)}, which comes with Microsoft's Visual C++ Redistributable"


def _sections(library: Library) -> Iterator[tuple[str, str]]:
    if library.unneeded:
        size = describe_size(library.unneeded_bytes)
        yield "symbols", f"holds {size} that no loader reads: {', '.join(library.unneeded)}"


def _search_path(library: Library) -> Iterator[tuple[str, str]]:
    """Each element once, and none that leads out of the environment."""
    useless = count_useless(library)
    for reason, code in _CODES.items():
        if useless[reason]:
            total = len(library.search_paths)
            yield code, f"{useless[reason]} of {total} {library.search_kind} elements are {reason}"


def count_useless(library: Library) -> Counter[str]:
    """Return how many elements of a search path repair would drop, by reason."""
    place = LibraryPlace(depth=library.member.count("/"))
    elements = (path.replace("@loader_path", "$ORIGIN", 1) for path in library.search_paths)  # macOS's word for it
    return clean_search_path(":".join(elements), place).dropped if library.search_paths else Counter()


def _exports(
    library: Library, known: Mapping[str, Sequence[str]], linked: Collection[str]
) -> Iterator[tuple[str, str]]:
    """A library defines nothing but its entry points, unless others of the wheel are linked to it."""
    name = library.member.rsplit("/", 1)[-1]
    reason = "beyond its entry points"
    if library.is_plugin:
        allowed = set(known.get(name, (ENTRY_POINT,)))
    elif initializers := {symbol for symbol in library.exports if symbol.startswith(_INITIALIZERS)}:
        allowed = initializers
    elif name in linked or library.soname in linked:
        return
    else:
        allowed, reason = set(), "though no library of the wheel is linked to it"
    extra = [symbol for symbol in library.exports if symbol not in allowed and not _OF_THE_LINKER.fullmatch(symbol)]
    if extra:
        yield "exports", f"defines {len(extra)} symbols for others {reason}: {shorten(extra, _NAMED_SYMBOLS)}"


def _segments(library: Library) -> Iterator[tuple[str, str]]:
    """No executable stack, and an alignment that every kernel accepts."""
    if library.executable_stack:
        yield "executable-stack", "asks for an executable stack"
    page = largest_page(library.machine)
    if library.alignment < page:
        yield "alignment", f"has segments aligned to {library.alignment:#x}: kernels with pages of {page:#x} refuse it"
