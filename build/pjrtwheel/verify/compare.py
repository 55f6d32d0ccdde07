# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare two wheels: `compare_wheels` by their members, `compare_inspections` by what inspection found in them.

Libraries are compared by their file names, as wheels of two projects have them in different folders.
"""

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from pjrtwheel.binaries import SYSTEMS, Library
from pjrtwheel.errors import describe_size
from pjrtwheel.verify.inspection import Inspection
from pjrtwheel.verify.libraries import describe_format
from pjrtwheel.wheel.members import open_wheel, read_member

# Subject → what there is of it; the order of values counts for none.
Facts = Mapping[str, Sequence[str]]
# What the directory of a zip file says of a member, and how a difference in it is called.
_ENTRIES = {"dates": "date_time", "permissions": "external_attr", "methods": "compress_type"}


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which two wheels differ.

    Attributes:
        about: What it is, such as `requires` or `exports`.
        library: Of which library or text, by its file name; empty for the wheel as a whole.
        only_a: What the first wheel alone has of it.
        only_b: What the second one alone has.
    """

    about: str
    library: str
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedWheel:
    """One of the two wheels: its file name, digest, size in bytes, packed and installed, and number of findings."""

    wheel: str
    sha256: str
    size: int
    installed_size: int
    findings: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two wheels, side by side.

    Attributes:
        a: The first wheel.
        b: The second one.
        differences: What differs, of the wheel as a whole first; libraries in order of how far their sizes are apart.
        same_bytes: Whether both are one wheel, under one name or two.
    """

    a: ComparedWheel
    b: ComparedWheel
    differences: tuple[Difference, ...]
    same_bytes: bool
    schema: Literal[1] = 1


def compare_wheels(a: Path, b: Path) -> tuple[Difference, ...]:
    """Return in what the files of two wheels differ: in their members, or only in how these are packed; fast.

    `about` is one of

    - `members`: those that one wheel alone has;
    - `bytes`: those with other bytes, on both sides;
    - `lines`: of METADATA or WHEEL, of which `library` is the path;
    - `order`: all members, in their orders;
    - `dates`, `permissions`, `methods` (of compression), `packed` (the same bytes in another length): the members that
      differ in it, on both sides.

    Files of the same members that differ in nothing of that were compressed in another way.

    Raises:
        WheelError: One is damaged or hostile.
    """
    with open_wheel(a) as first, open_wheel(b) as second:
        return tuple(_changed(_compare_archives(first, second)))


def _compare_archives(a: zipfile.ZipFile, b: zipfile.ZipFile) -> Iterator[Difference]:
    old, new = ({info.filename: info for info in archive.infolist()} for archive in (a, b))
    common = [name for name in old if name in new]
    yield from _compare("", {"members": list(old)}, {"members": list(new)})
    changed = tuple(name for name in common if read_member(a, old[name]) != read_member(b, new[name]))
    yield Difference("bytes", "", changed, changed)
    for name in changed:
        if name.endswith((".dist-info/METADATA", ".dist-info/WHEEL")):
            before, after = (archive.read(name).decode(errors="replace").splitlines() for archive in (a, b))
            yield from _compare(name, {"lines": before}, {"lines": after})
    if common != [name for name in new if name in old]:
        yield Difference("order", "", tuple(old), tuple(new))
    for about, attribute in _ENTRIES.items():
        others = tuple(name for name in common if getattr(old[name], attribute) != getattr(new[name], attribute))
        yield Difference(about, "", others, others)
    packed = tuple(
        name for name in common if name not in changed and old[name].compress_size != new[name].compress_size
    )
    yield Difference("packed", "", packed, packed)


def compare_inspections(a: Inspection, b: Inspection) -> Comparison:
    """Compare two wheels by what is known of them."""
    whole = list(_compare("", {**describe_wheel(a), **_count(a)}, {**describe_wheel(b), **_count(b)}))
    first, second = _by_name(a), _by_name(b)
    pairs = {name: (library, second[name]) for name, library in first.items() if name in second}
    both = sorted(pairs, key=lambda name: -abs(pairs[name][0].size - pairs[name][1].size))
    libraries = [entry for name in both for entry in _compare(name, *map(describe_library, pairs[name]))]
    names = _compare("", {"libraries": list(first)}, {"libraries": list(second)})
    differences = _changed([*whole, *names, *libraries])
    return Comparison(
        _summarize(a),
        _summarize(b),
        tuple(differences),
        same_bytes=a.sha256 == b.sha256,
    )


def _summarize(inspection: Inspection) -> ComparedWheel:
    return ComparedWheel(
        inspection.wheel, inspection.sha256, inspection.size, inspection.installed_size, len(inspection.findings)
    )


def _compare(library: str, a: Facts, b: Facts) -> Iterator[Difference]:
    """Yield what each side alone has of every subject; nothing on both sides where they are equal."""
    for about in a:
        before, after = Counter(a[about]), Counter(b[about])
        only_a, only_b = ((left - right).elements() for left, right in ((before, after), (after, before)))
        yield Difference(about, library, tuple(only_a), tuple(only_b))


def _changed(differences: Iterable[Difference]) -> list[Difference]:
    return [entry for entry in differences if entry.only_a or entry.only_b]


def describe_wheel(inspection: Inspection) -> Facts:
    """Return what there is of a wheel as a whole, as it is printed and compared."""
    lock = inspection.lock
    return {
        "project": [f"{inspection.name} {inspection.version}: {inspection.summary}"],
        "tags": inspection.tags,
        "build tag": [inspection.build] * bool(inspection.build),
        "purelib": [{True: "true", False: "false", None: "not said"}[inspection.purelib]],
        "Python": [inspection.requires_python or "any"],
        "lock": [f"{lock.get('lock_id') or 'of no set'}, provider {lock.get('provider')}"] if lock else [],
        "requires": inspection.requires,
        "extras": inspection.extras,
        "entry points": inspection.entry_points,
        "outside": inspection.outside,
        "licence": [inspection.license or "not said"],
        "licence files": [PurePosixPath(path).name for path in inspection.license_files],
        "SBOM": [PurePosixPath(path).name for path in inspection.sboms],
        "needs": _describe_versions(inspection.floors),
        "GPU code": inspection.gpu_code.names(),
    }


def _count(inspection: Inspection) -> Facts:
    names = [PurePosixPath(file.path).name for file in inspection.files]
    return {"files": names, "findings": count_findings(inspection)}


def count_findings(inspection: Inspection) -> list[str]:
    """Return the codes of what was found, each once, with their numbers."""
    codes = Counter(finding.code for finding in inspection.findings)
    return [code if number == 1 else f"{code} ({number})" for code, number in codes.items()]


def sort_libraries(inspection: Inspection) -> list[Library]:
    """Return the libraries of a wheel, plugins first."""
    return sorted(inspection.libraries, key=lambda library: (not library.is_plugin, library.member))


def _by_name(inspection: Inspection) -> dict[str, Library]:
    """Return libraries by file name, plugins first; by path where a wheel has several of that name."""
    names = Counter(PurePosixPath(library.member).name for library in inspection.libraries)
    named = ((PurePosixPath(library.member).name, library) for library in sort_libraries(inspection))
    return {name if names[name] == 1 else library.member: library for name, library in named}


def describe_library(library: Library) -> Facts:
    """Return what there is of a library of a wheel, as it is printed and compared."""
    return {
        "size": [describe_size(library.size)],
        "unneeded": [describe_size(library.unneeded_bytes)] if library.unneeded_bytes else [],
        "machine": [describe_format(library)],
        "linked to": library.needed,
        "RPATH": [f"{library.search_kind} {path}" for path in library.search_paths],
        "exports": library.exports,
        "versions": _describe_versions(library.floors),
        "GPU code": library.gpu_code.names() if library.gpu_code else ["not read"],
        "executable stack": ["yes"] if library.executable_stack else [],
        "alignment": [hex(library.alignment)] if library.alignment else [],
        "signature": [library.signature] if library.signature else [],
    }


def _describe_versions(floors: Mapping[str, str]) -> list[str]:
    """Return versions of symbols as a linker writes them, versions of a system in words."""
    return [
        f"{family} {version} or newer" if family in SYSTEMS else f"{family}_{version}"
        for family, version in floors.items()
    ]
