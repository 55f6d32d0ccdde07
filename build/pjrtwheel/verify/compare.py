# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare two wheels: `compare_wheels` by their members, `compare_inspections` by what inspection found in them.

Libraries are compared by their file names, as wheels of two projects have them in different folders. The modules for
several Pythons are one library: each is compared with that for the same Python, and what not all of them have says
which do.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pjrtwheel.binaries import Library
from pjrtwheel.errors import describe_size
from pjrtwheel.tables import write
from pjrtwheel.verify.inspection import Inspection
from pjrtwheel.wheel.read.directory import open_wheel
from pjrtwheel.wheel.record import Member

# Subject → what there is of it; the order of values counts for none.
_Facts = Mapping[str, Sequence[str]]
# A module that one CPython alone imports (PEP 3149), such as `_solver.cpython-312-x86_64-linux-gnu.so`.
_MODULE = re.compile(r"(?P<before>.*\.cpython-)(?P<python>\d+t?)(?P<after>-.*)")
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
        equal: What is equal in both, of the wheel as a whole, and of all libraries that both have.
        equal_libraries: The libraries in which nothing differs.
    """

    a: ComparedWheel
    b: ComparedWheel
    differences: tuple[Difference, ...]
    equal: tuple[str, ...]
    equal_libraries: tuple[str, ...]
    schema: Literal[1] = 1

    @property
    def same_bytes(self) -> bool:
        """Whether both are one wheel, under one name or two."""
        return self.a.sha256 == self.b.sha256

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        table: dict[str, Any] = write(self)
        return {**table, "same_bytes": self.same_bytes}


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
    changed = tuple(name for name in common if _digest(a, name) != _digest(b, name))
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


def _digest(archive: zipfile.ZipFile, name: str) -> bytes:
    digest = hashlib.sha256()
    with archive.open(name) as stream:
        while data := stream.read(1 << 20):
            digest.update(data)
    return digest.digest()


def compare_inspections(a: Inspection, b: Inspection) -> Comparison:
    """Compare two wheels by what is known of them."""
    whole = tuple(_compare("", _describe_wheel(a), _describe_wheel(b)))
    first, second = _by_name(a.libraries), _by_name(b.libraries)
    both = [name for name in first if name in second]
    libraries = {
        name: tuple(
            _compare(
                name,
                _describe_libraries(first[name], second[name], a.files),
                _describe_libraries(second[name], first[name], b.files),
            )
        )
        for name in both
    }
    order = sorted(
        both, key=lambda name: -abs(_size(first[name].values(), a.files) - _size(second[name].values(), b.files))
    )
    kept = {difference.about for name in both for difference in _changed(libraries[name])}
    known = dict.fromkeys(entry.about for name in both for entry in libraries[name])
    return Comparison(
        _summarize(a),
        _summarize(b),
        (
            *_changed(whole),
            *_changed(_compare("", {"libraries": list(first)}, {"libraries": list(second)})),
            *(difference for name in order for difference in _changed(libraries[name])),
        ),
        (
            *(entry.about for entry in whole if entry not in _changed(whole)),
            *(f"{about} of libraries" for about in known if about not in kept),
        ),
        tuple(name for name in both if not _changed(libraries[name])),
    )


def _summarize(inspection: Inspection) -> ComparedWheel:
    return ComparedWheel(
        inspection.wheel, inspection.sha256, inspection.size, inspection.installed_size, len(inspection.findings)
    )


def _compare(library: str, a: _Facts, b: _Facts) -> Iterator[Difference]:
    """Yield what each side alone has of every subject; nothing on both sides where they are equal."""
    for about in a:
        before, after = Counter(a[about]), Counter(b[about])
        only_a, only_b = ((left - right).elements() for left, right in ((before, after), (after, before)))
        yield Difference(about, library, tuple(only_a), tuple(only_b))


def _changed(differences: Iterable[Difference]) -> list[Difference]:
    return [entry for entry in differences if entry.only_a or entry.only_b]


def _describe_wheel(inspection: Inspection) -> _Facts:
    lock = inspection.lock or {}
    files = fold_names(PurePosixPath(path).name for path in inspection.files)
    return {
        "project": [f"{inspection.name} {inspection.version}"],
        "tags": inspection.tags,
        "build tag": [inspection.build] if inspection.build else [],
        "Python": [inspection.requires_python or "any"],
        "requires": inspection.requires,
        "extras": inspection.extras,
        "entry points": inspection.entry_points,
        "lock": [str(lock["lock_id"])] if "lock_id" in lock else [],
        "licence": [inspection.license or "not said"],
        "SBOM": [str(len(inspection.sboms))] if inspection.sboms else [],
        "needs": [f"{family} {version}" for family, version in inspection.floors().items()],
        "GPU code": inspection.gpu_code().names(),
        "files": list(files),
        "findings": count_findings(inspection),
        "attributes": [
            f"{name} {json.dumps(value)}"
            for plugin in inspection.plugins.values()
            for name, value in (plugin.attributes or {}).items()
        ],
    }


def count_findings(inspection: Inspection) -> list[str]:
    """Return the codes of what was found, each once, with their numbers."""
    codes = Counter(finding.code for finding in inspection.findings)
    return [code if number == 1 else f"{code} ({number})" for code, number in codes.items()]


def _by_name(libraries: Iterable[Library]) -> dict[str, dict[str, Library]]:
    """Return libraries by file name, plugins first, each by what tells it from others of that name.

    That is the Python that it is for, as `312`, which is no part of the name; nothing for one that is alone, and its
    path where others are for the same.
    """
    ordered = sorted(libraries, key=lambda library: (not library.is_plugin, library.member))
    members = {library.member: library for library in ordered}
    named: dict[str, dict[str, list[str]]] = {}
    for folded, several in fold_names(members).items():
        # Of another number of Pythons they are the same modules.
        name = PurePosixPath(folded if len(several) == 1 and "" in several else folded.partition(".cpython-")[0]).name
        for python, member in several.items():
            named.setdefault(name, {}).setdefault(python, []).append(member)
    return {
        name: {
            python if len(paths) == 1 else path: members[path] for python, paths in pythons.items() for path in paths
        }
        for name, pythons in named.items()
    }


def _describe_libraries(libraries: Mapping[str, Library], others: Iterable[str], files: Mapping[str, Member]) -> _Facts:
    """Return what there is of the libraries of one name, of which another wheel has some as well."""
    shared = [label for label in others if label in libraries] or [*libraries]

    def find(values_of: Callable[[Library], Iterable[str]]) -> list[str]:
        return _join({label: values_of(library) for label, library in libraries.items()}, shared)

    compared = [libraries[label] for label in shared]
    unneeded = sum(library.unneeded_bytes for library in compared)
    return {
        "size": [describe_size(_size(compared, files))],
        "unneeded": [describe_size(unneeded)] if unneeded else [],
        "machine": find(lambda library: [f"{library.binary_format.value} {library.machine}"]),
        "linked to": find(lambda library: library.needed),
        "RPATH": find(lambda library: [f"{library.search_kind} {path}" for path in library.search_paths]),
        "exports": find(lambda library: library.exports),
        "GPU code": find(lambda library: library.gpu_code.names() if library.gpu_code else ()),
        "executable stack": find(lambda library: ["yes"] if library.executable_stack else []),
        "alignment": find(lambda library: [hex(library.alignment)] if library.alignment else []),
        "signature": find(lambda library: [library.signature] if library.signature else []),
    }


def _size(libraries: Iterable[Library], files: Mapping[str, Member]) -> int:
    return sum(files[library.member].size for library in libraries)


def _join(values: Mapping[str, Iterable[str]], shared: Sequence[str]) -> list[str]:
    """Return what some libraries have; where not all have it, it is said which.

    >>> _join({"312": ["a", "b"], "313": ["a"]}, ["312", "313"])
    ['a', '312: b']
    >>> _join({"312": ["a"], "313": ["b"]}, ["312"])
    ['a', '313: b', '313: not a']

    Args:
        values: What each library has, by what tells it from the others.
        shared: Which of them are compared with those of another wheel; of the others is said in what they differ.
    """
    had = {label: dict.fromkeys(entries) for label, entries in values.items()}
    found = dict.fromkeys(value for label in shared for value in had[label])
    holders = {value: [label for label in shared if value in had[label]] for value in found}
    common = [value for value in found if len(holders[value]) == len(shared)]
    joined = [value if value in common else f"{', '.join(holders[value])}: {value}" for value in found]
    for label in [label for label in had if label not in shared]:
        joined += [f"{label}: {value}" for value in had[label] if value not in common]
        joined += [f"{label}: not {value}" for value in common if value not in had[label]]
    return joined


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


def fold_values(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return what holds for several Pythons: one line if it is the same for all, else one for each value.

    >>> fold_values({"312": "a", "313": "a"}), fold_values({"312": "a", "313": "b", "314": "a"})
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
