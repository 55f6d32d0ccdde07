# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the libraries of a wheel, each by itself and against the platform tag: values in, findings out."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from pjrtwheel.abis import VERSIONED
from pjrtwheel.binaries import ENTRY_POINT, MACOS, Library, version_key
from pjrtwheel.errors import describe_size, shorten
from pjrtwheel.platforms import BinaryFormat, Platform
from pjrtwheel.verify import checkers
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.findings import Finding, Problem

_SHOWN = 3
_LEAST = 4096  # bytes that are worth a finding
# Endings of modules for a stable ABI, and how the function begins that CPython calls in them (PEP 489, PEP 793).
_STABLE_HOOKS = {".abi3.so": "PyInit_", ".abi3t.so": "PyModExport_"}
# Made by the linker, and the same in every library that has them.
_OF_THE_LINKER = re.compile(r"__(start|stop)_\w+|_init|_fini")
# How an element of a search path begins that leads on from the library's own folder.
_HERE = {BinaryFormat.ELF: ("$ORIGIN", "${ORIGIN}"), BinaryFormat.MACH_O: ("@loader_path",)}
_USELESS = {
    "rpath-repeated": "repeated",
    "rpath-absolute": "absolute",
    "rpath-outside": "outside site-packages",
    "rpath-relative": "relative to the working directory",
    "rpath-build-tree": "of a build tree",
}
_UNSIGNED = ("x86_64", "i386")  # what Apple's own processors run must be signed
# Every macOS has what lies there; delocate leaves it out as well.
_SYSTEM_FOLDERS = ("/usr/lib/", "/System/")
_PYTHON = re.compile(r"python(3\d+t?)\.dll", re.IGNORECASE)
# What every Linux has by PEP 600, as far as plugins need it, and every Windows with Python.
_OF_LINUX = re.compile(r"ld-linux-[\w-]+\.so\.\d|lib(c|m|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+|z)\.so\.\d")
_OF_WINDOWS = re.compile(
    r"api-ms-win-.*|(advapi32|bcrypt|dbghelp|kernel32|ntdll|ole32|shell32|shlwapi|user32|vcruntime140(_1)?|ws2_32)\.dll",
    re.IGNORECASE,
)
# The C++ runtime of the Visual C++ Redistributable: Python brings the one for C only. Upstream's `jaxlib` needs it,
# JAX's documentation asks users to install it, and a copy of ours next to one of Windows would be loaded twice.
REDISTRIBUTABLE = ("msvcp140.dll",)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What libraries may do by the facts of a backend.

    Attributes:
        exports: File name of a plugin library → the symbols it may define, the first of which it must.
        search_paths: Elements that are right wherever they lead.
        external: Libraries that neither the wheel nor every system has.
    """

    exports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    search_paths: Sequence[str] = ()
    external: Collection[str] = ()


def describe_format(library: Library) -> str:
    """Return format and processor of a library, such as `ELF for EM_X86_64`."""
    return f"{library.binary_format} for {library.machine}"


def check_libraries(libraries: Sequence[Library], platform: Platform | None, allowed: Allowed) -> Iterator[Finding]:
    """Yield what is wrong with each library; without a platform it may be for any."""
    linked = {name for library in libraries for name in library.needed}
    for library in libraries:
        if platform and (library.binary_format, library.machine) != (platform.binary_format, platform.machine):
            expected = f"{platform.binary_format} for {platform.machine}"
            yield Finding("architecture", library.member, f"is {describe_format(library)}, expected {expected}")
        found = [*_search_path(library, allowed.search_paths), *_exports(library, allowed.exports, linked)]
        found += {BinaryFormat.ELF: _of_elf, BinaryFormat.MACH_O: _of_macho, BinaryFormat.PE: _of_pe}[
            library.binary_format
        ](library)
        yield from (Finding(code, library.member, text) for code, text in found)
        if library.gpu_problem:
            yield Finding("gpu-code", library.member, f"its GPU code was not read: {library.gpu_problem}")


def is_tolerated(finding: Finding, libraries: Mapping[str, Library], allowed: Allowed) -> bool:
    """Whether it is upstream's choice in a file that stays as it is: a signed one, or one that is no plugin of ours."""
    library = libraries.get(finding.member)
    if library is None:
        return False
    if finding.code == "exports":
        return _name(library) not in allowed.exports and not _name(library).endswith(tuple(_STABLE_HOOKS))
    if library.binary_format is not BinaryFormat.MACH_O:
        return False
    if finding.code == "signature":
        return library.machine in _UNSIGNED
    return finding.code in {"rpath-outside", "rpath-build-tree", "rpath-repeated"}


def _search_path(library: Library, kept: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield which elements of a search path lead nowhere on a user's machine, by the code of the finding."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for element in library.search_paths:
        bare = element.rstrip("/") or element
        code = "" if bare in kept else _useless_code(element, library)
        if code := code or ("rpath-repeated" if bare in seen else ""):
            found.setdefault(code, []).append(element)
        seen.add(bare)
    for code, elements in found.items():
        share = f"{len(elements)} of {len(library.search_paths)} {library.search_kind} elements"
        yield code, f"{share} are {_USELESS[code]}: {shorten(elements, _SHOWN)}"


def _useless_code(element: str, library: Library) -> str:
    here, *parts = element.split("/")
    if here not in _HERE.get(library.binary_format, ()):
        return "rpath-absolute" if element.startswith("/") else "rpath-relative"
    # Bazel's directories of linked libraries and of run trees, which exist where it built.
    if any(part.startswith("_solib_") or part.endswith(".runfiles") for part in parts):
        return "rpath-build-tree"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(library.member), *filter(None, parts)))
    return "rpath-outside" if target.split("/")[0] == ".." else ""


def _exports(
    library: Library, known: Mapping[str, Sequence[str]], linked: Collection[str]
) -> Iterator[tuple[str, str]]:
    """A library defines nothing but its entry points, unless others of the wheel are linked to it.

    Symbols of other libraries of macOS and Windows cannot collide: each is linked to by library and name.
    """
    name = _name(library)
    hook = next((_STABLE_HOOKS[end] + name.removesuffix(end) for end in _STABLE_HOOKS if name.endswith(end)), "")
    match = VERSIONED.fullmatch(name)
    entry = known[name][0] if name in known else hook or (f"PyInit_{match['stem']}" if match else "")
    if entry and entry not in library.exports:
        yield "entry-point", f"does not export {entry!r}"
    reason = "beyond its entry points"
    if name in known or library.is_plugin:
        permitted = set(known.get(name, (ENTRY_POINT,)))
    elif hook:
        permitted = {hook}
    elif library.binary_format is not BinaryFormat.ELF or name in linked or library.soname in linked:
        return
    else:
        permitted = {symbol for symbol in library.exports if symbol.startswith(tuple(_STABLE_HOOKS.values()))}
        reason = reason if permitted else "though no library of the wheel is linked to it"
    beyond = [symbol for symbol in library.exports if not any(fnmatchcase(symbol, pattern) for pattern in permitted)]
    extra = [symbol for symbol in beyond if not _OF_THE_LINKER.fullmatch(symbol)]
    if extra:
        yield "exports", f"defines {len(extra)} symbols for others {reason}: {shorten(extra, _SHOWN)}"


def _of_elf(library: Library) -> Iterator[tuple[str, str]]:
    if (library.unneeded_bytes or 0) >= _LEAST:
        size = describe_size(library.unneeded_bytes or 0)
        yield "symbols", f"holds {size} that no loader reads: {', '.join(library.unneeded)}"
    if library.executable_stack:
        yield "executable-stack", "asks for an executable stack"
    page = 0x10000 if library.machine == "EM_AARCH64" else 0x1000  # the largest of its kernels
    if library.alignment < page:
        yield "alignment", f"has segments aligned to {library.alignment:#x}: kernels with pages of {page:#x} refuse it"


def _of_macho(library: Library) -> Iterator[tuple[str, str]]:
    if MACOS not in library.floors:
        yield "macos", "does not say which macOS it needs"
    if not library.signature:
        yield "signature", "is not signed, which macOS on Apple's processors demands"


def _of_pe(library: Library) -> Iterator[tuple[str, str]]:
    missing = [name for name in library.needed if name.lower() in REDISTRIBUTABLE]
    if missing:
        yield "runtime", f"needs {', '.join(missing)}, which comes with Microsoft's Visual C++ Redistributable"


def check_floors(libraries: Sequence[Library], tags: Iterable[str]) -> Iterator[Finding]:
    """Platform tags promise a system, and no library needs a newer one."""
    seen: list[checkers.Floor] = []
    for tag in sorted(set(tags)):
        floor = checkers.parse_platform_tag(tag)
        if floor is None:
            yield Finding("platform-floor", "", f"claims platform {tag!r}, which promises no libc version")
            continue
        if floor not in seen:  # manylinux2014 and manylinux_2_17 are one
            yield from _check_floor(libraries, tag, floor)
        seen.append(floor)


def _check_floor(libraries: Sequence[Library], tag: str, floor: checkers.Floor) -> Iterator[Finding]:
    for family, kind, code in (("GLIBC_", "manylinux", "glibc"), (f"{MACOS} ", "macosx", "macos")):
        for library in libraries if floor[0] == kind else ():
            needed = library.floors.get(family.rstrip("_ "), "")
            if needed and version_key(needed) > floor[1]:
                yield Finding(code, library.member, f"claims platform {tag!r}, and needs {family}{needed}")


def find_missing(wheel: WheelContents, libraries: Sequence[Library]) -> Iterator[tuple[str, str]]:
    """Yield what libraries need and neither the wheel nor every system of their format has, by member."""
    here = {name for library in libraries for name in (library.soname, _name(library))}
    for library in libraries:
        for name in library.needed:
            if name not in here and not _has_system(name, library, wheel):
                yield library.member, name


def _has_system(name: str, library: Library, wheel: WheelContents) -> bool:
    if library.binary_format is BinaryFormat.MACH_O:
        return _is_there(name, library, wheel)
    if library.binary_format is BinaryFormat.PE:
        return bool(_OF_WINDOWS.fullmatch(name) or _PYTHON.fullmatch(name))
    return bool(_OF_LINUX.fullmatch(name))


def check_system(
    wheel: WheelContents, found: Sequence[Library], platform: Platform, external: Collection[str]
) -> Iterator[Finding]:
    """The platform tags are proven, and all that is needed is in the wheel, part of the system, or `external`."""
    code, check = {
        BinaryFormat.ELF: ("auditwheel", _check_linux),
        BinaryFormat.MACH_O: ("macos", _check_macos),
        BinaryFormat.PE: ("delvewheel", _check_windows),
    }[platform.binary_format]
    yield from (Finding(code, member, text) for member, text in check(wheel, found, external))


def _check_linux(wheel: WheelContents, found: Sequence[Library], external: Collection[str]) -> Iterator[Problem]:
    needed = {name for library in found for name in library.needed}
    yield from checkers.check_platform(wheel.path, wheel.platform_tags, needed, external)


def _check_macos(wheel: WheelContents, found: Sequence[Library], external: Collection[str]) -> Iterator[Problem]:
    for member, name in find_missing(wheel, found):
        if name not in external:
            yield member, f"needs {name}, which neither it nor every macOS has"


def _is_there(name: str, library: Library, wheel: WheelContents) -> bool:
    """Whether the loader finds a library in the system, or in the wheel by the search path of the one that needs it."""
    if name.startswith(_SYSTEM_FOLDERS):
        return True
    start, _, rest = name.partition("/")
    here = posixpath.dirname(library.member)
    folders = {"@rpath": library.search_paths, "@loader_path": ("@loader_path",)}.get(start, ())
    places = (posixpath.join(here, folder.removeprefix("@loader_path").lstrip("/"), rest) for folder in folders)
    return any(posixpath.normpath(place) in wheel.members for place in places)


def _check_windows(wheel: WheelContents, found: Sequence[Library], external: Collection[str]) -> Iterator[Problem]:
    pythons = {tag.abi for tag in wheel.name.tags}
    for library in found:
        for match in filter(None, map(_PYTHON.fullmatch, library.needed)):
            if f"cp{match[1]}" not in pythons:
                yield library.member, f"needs {match[0]}, the file name says {', '.join(sorted(pythons))}"
    yield from checkers.check_dlls(wheel.path, {*REDISTRIBUTABLE, *external})


def _name(library: Library) -> str:
    return PurePosixPath(library.member).name
