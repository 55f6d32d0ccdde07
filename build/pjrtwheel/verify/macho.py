# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What macOS sees of a library, and its checks.

delocate, which does this on macOS, starts Apple's `otool` and so does not run on Linux; LIEF reads the same commands.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

import lief
from lief import MachO

from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.verify.checkers import parse_platform_tag
from pjrtwheel.verify.code_signature import SignatureError, check_signature
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.findings import Problem
from pjrtwheel.verify.library import Library, check_machine, largest_first, version_key

CODE = "mach-o"
WHEEL_CODE = "macos"
SUFFIXES: tuple[str, ...] = (".dylib",)
SYSTEM = "macOS"
_MAGICS = {bytes.fromhex(text) for text in ("cafebabe", "cafebabf", "cefaedfe", "cffaedfe", "feedface", "feedfacf")}
_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64", 7: "i386"}  # CPU_TYPE_* of <mach/machine.h>
_HERE = "@loader_path"
# Every macOS has what lies there; delocate leaves it out as well.
_SYSTEM_FOLDERS = ("/usr/lib/", "/System/")
_UNSIGNED = ("x86_64", "i386")  # what Apple's own processors run must be signed
# What LIEF's properties raise over a damaged file.
_DAMAGE = (LookupError, OSError, RuntimeError, TypeError, ValueError)


def is_format(start: bytes) -> bool:
    """Whether a file that starts so is a Mach-O file, or a fat one with several inside."""
    return start[:4] in _MAGICS


def read_library(path: Path, member: str) -> Library:
    """Read a dynamic library or bundle; of a fat file, the first one in it.

    Raises:
        WheelError: It is not a Mach-O file, or is damaged.
    """
    lief.logging.disable()
    options = MachO.ParserConfig()
    options.parse_dyld_bindings = options.parse_dyld_rebases = False
    try:
        images = MachO.parse(str(path), options)
        found = [images.at(number) for number in range(images.size)] if images else []
        if found and all(image and image.header.nb_cmds == len(image.commands) for image in found):
            return _describe(path, member, [image for image in found if image])
    except _DAMAGE as error:
        raise WheelError(f"{member} is a damaged Mach-O file", cause=f"{type(error).__name__}: {error}") from error
    raise WheelError(f"{member} is not a whole Mach-O file")


def _describe(path: Path, member: str, images: Sequence[MachO.Binary]) -> Library:
    first = images[0]
    own = [entry.name for entry in first.libraries if entry.command is MachO.LoadCommand.TYPE.ID_DYLIB]
    kind, problem = _read_signature(path, images)
    return Library(
        member=member,
        machine="+".join(_read_machine(path, image.fat_offset) for image in images),
        binary_format=BinaryFormat.MACH_O,
        soname="".join(map(str, own)),
        needed=tuple(
            str(entry.name) for entry in first.libraries if entry.command is not MachO.LoadCommand.TYPE.ID_DYLIB
        ),
        search_kind="RPATH" if first.has_rpath else "",
        search_paths=tuple(str(entry.path) for entry in first.rpaths),
        exports=_exports(first),
        floors=_floors(images),
        sections=largest_first({str(section.name): section.size for section in first.sections if section.offset}),
        signature=kind,
        signature_problem=problem,
    )


def _read_machine(path: Path, start: int) -> str:
    """Return the processor of an image; LIEF prints a warning about one that it does not know."""
    with path.open("rb") as file:
        file.seek(start + 4)
        number = int.from_bytes(file.read(4), "little")
    return _MACHINES.get(number, f"{number:#x}")


def _exports(image: MachO.Binary) -> tuple[str, ...]:
    """Return the names that the loader offers to others; those of C have an underscore in front, which is dropped."""
    old, new = image.dyld_info, image.dyld_exports_trie
    entries = [*(old.exports if old else ()), *(new.exports if new else ())]
    names = {str(entry.symbol.name) for entry in entries if entry.symbol}
    return tuple(sorted(name.removeprefix("_") for name in names))


def _floors(images: Sequence[MachO.Binary]) -> dict[str, str]:
    """Return the oldest macOS on which all images run; nothing where one does not say."""
    versions = [
        image.build_version.minos if image.build_version else image.version_min.version if image.version_min else []
        for image in images
    ]
    if not all(versions):
        return {}
    return {SYSTEM: max((f"{version[0]}.{version[1]}" for version in versions), key=version_key)}


def _read_signature(path: Path, images: Sequence[MachO.Binary]) -> tuple[str, str]:
    """Return the kind of the signatures, and what is wrong with the first that is not right."""
    kinds = []
    with path.open("rb") as file:
        for image in images:
            signature = image.code_signature
            if signature is None:
                return "", ""
            place = {"start": image.fat_offset, "offset": signature.data_offset, "size": signature.data_size}
            try:
                kinds.append(check_signature(file, **place))
            except SignatureError as error:
                return "damaged", str(error)
    return kinds[0], ""


def check_library(library: Library, machine: str, search_paths: Sequence[str] = ()) -> Iterator[Problem]:
    """For one processor and the right one, signed as it was made, and searching no place of the build machine.

    An element that leads out of `site-packages` is none of our making, and cannot be taken out of a signed file:
    `inspect` reports it.
    """
    yield from check_machine(library, machine)
    for element in library.search_paths:
        if element not in search_paths and element.split("/")[0] != _HERE:
            yield library.member, f"has RPATH element {element!r}, expected one below {_HERE}"
    if SYSTEM not in library.floors:
        yield library.member, "does not say which macOS it needs"
    if library.signature_problem:
        yield library.member, f"has a signature that macOS refuses: {library.signature_problem}"
    elif not library.signature and library.machine not in _UNSIGNED:
        yield library.member, "is not signed, so that macOS on Apple's processors refuses it"


def check_wheel(wheel: WheelContents, found: Sequence[Library], external: Collection[str]) -> Iterator[Problem]:
    """No library needs a newer macOS than the platform tags promise, or another library that is nowhere."""
    for tag in sorted({tag.platform for tag in wheel.name.tags}):
        yield from chain.from_iterable(compare_system(library, tag) for library in found)
    for library in found:
        missing = [name for name in library.needed if name not in external and not _is_there(name, library, wheel)]
        for name in missing:
            yield library.member, f"needs {name}, which neither it nor every macOS has"


def compare_system(library: Library, tag: str) -> Iterator[Problem]:
    """A library needs no newer macOS than a platform tag promises."""
    promised, needed = parse_platform_tag(tag), library.floors.get(SYSTEM, "")
    if promised and promised[0] == "macosx" and needed and version_key(needed) > promised[1]:
        yield library.member, f"claims platform {tag!r}, and needs {SYSTEM} {needed}"


def _is_there(name: str, library: Library, wheel: WheelContents) -> bool:
    """Whether the loader finds a library in the system, or in the wheel by the search path of the one that needs it."""
    if name.startswith(_SYSTEM_FOLDERS):
        return True
    start, _, rest = name.partition("/")
    folders = {"@rpath": library.search_paths, _HERE: (_HERE,)}.get(start, ())
    here = posixpath.dirname(library.member)
    return any(posixpath.normpath(posixpath.join(_relative(folder, here), rest)) in wheel.members for folder in folders)


def _relative(folder: str, here: str) -> str:
    return posixpath.join(here, folder.removeprefix(_HERE).lstrip("/"))
