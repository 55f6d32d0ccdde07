# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the wheel of an accelerator to its backend file: the plugin library, and the kernels."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pjrtwheel.abis import FREE_THREADED, STABLE_ABI, VERSIONED, extension_suffix
from pjrtwheel.backend import Backend
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.documents import find_document
from pjrtwheel.verify.findings import Problem
from pjrtwheel.wheel.metadata import PROVENANCE_FILENAME, find_requirement


def expected_packages(wheel: WheelContents, backend: Backend) -> tuple[str, ...]:
    """Return the top-level packages that a backend's wheel must have, and no others."""
    kernels = {backend.kernels.package} if backend.kernels else set()
    present = {member.partition("/")[0] for member in wheel.libraries}
    return (backend.package, *sorted(kernels & present))


def check_plugin(wheel: WheelContents, backend: Backend) -> Iterator[Problem]:
    """The wheel carries the plugin library, or requires one version of the distribution that does."""
    member = f"{backend.package}/{backend.library}"
    if (member in wheel.libraries) != backend.prebuilt.bundled:
        yield member, "is missing" if backend.prebuilt.bundled else "must not be bundled"
    if backend.prebuilt.bundled:
        return
    if not find_requirement(wheel.headers("METADATA").get_all("Requires-Dist", []), backend.prebuilt.project):
        yield f"{wheel.dist_info}/METADATA", f"does not require one version of {backend.prebuilt.project}"


@dataclass(frozen=True, slots=True)
class _Provenance:
    """What `provenance.json` says of kernels."""

    kernels: tuple[dict[str, Any], ...] = ()


def check_presence(wheel: WheelContents) -> Iterator[Problem]:
    """There are kernels for exactly the Pythons that the wheel's `provenance.json` names."""
    document = find_document(wheel.texts, PROVENANCE_FILENAME)
    if document is None:
        return
    path, text = document
    try:
        stated = {str(entry.get("python")) for entry in read_json(_Provenance, text, ignore_unknown=True).kernels}
    except TableError as error:
        yield path, str(error)
        return
    present = {f"cp{match['python']}" for _, match in _versioned_modules(wheel)}
    if stated != present:
        yield path, f"names kernels for {_list(stated)}, the wheel has some for {_list(present)}"


def _list(pythons: Iterable[str]) -> str:
    return ", ".join(sorted(pythons)) or "no Python"


def check_abis(wheel: WheelContents) -> Iterator[Problem]:
    """A module for the stable ABI has a twin for every other ABI that the wheel's name claims."""
    claimed = sorted({tag.abi for tag in wheel.name.tags} - {STABLE_ABI})
    for stem in _stable_modules(wheel.libraries):
        for abi in claimed:
            twin = stem + extension_suffix(abi, wheel.architecture)
            if twin not in wheel.libraries:
                yield twin, f"is missing, although the wheel claims the ABI {abi}"


def _stable_modules(members: Iterable[str]) -> tuple[str, ...]:
    """Return the modules for the stable ABI, without their ending."""
    suffix = extension_suffix(STABLE_ABI, "")
    return tuple(member.removesuffix(suffix) for member in members if member.endswith(suffix))


def _versioned_modules(wheel: WheelContents) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the modules of one CPython, apart from the twins of those for the stable ABI, which are no kernels."""
    stems = _stable_modules(wheel.libraries)
    twins = {stem + extension_suffix(abi, wheel.architecture) for stem in stems for abi in FREE_THREADED.values()}
    for member in wheel.libraries:
        match = VERSIONED.fullmatch(member.rpartition("/")[2])
        if match and member not in twins:
            yield member, match


def check_kernels(wheel: WheelContents, backend: Backend | None) -> Iterator[Problem]:
    """Modules of one CPython are where JAX looks for them, the same for each Python."""
    modules: dict[str, set[str]] = {}
    for member, match in _versioned_modules(wheel):
        if problem := _misplaced(member.rpartition("/")[0], match, backend, wheel.architecture):
            yield member, problem
        modules.setdefault(f"cp{match['python']}", set()).add(match["stem"])
    if backend and backend.kernels and modules:
        yield from _check_equal(modules)


def _misplaced(folder: str, match: re.Match[str], backend: Backend | None, architecture: str) -> str:
    if backend is None or backend.kernels is None:
        return "is a module of one CPython, which this wheel may not have"
    if folder != backend.kernels.package:
        return f"is in {folder!r}, expected {backend.kernels.package!r}"
    if match["architecture"] != architecture:
        return f"has a suffix that no Python on {architecture} has"
    return ""


def _check_equal(modules: dict[str, set[str]]) -> Iterator[Problem]:
    every = set().union(*modules.values())
    for python, found in sorted(modules.items()):
        if missing := every - found:
            yield "", f"has no {', '.join(sorted(missing))} for {python}"
