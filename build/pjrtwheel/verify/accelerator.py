# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the wheels of an accelerator to its backend file: the plugin library, and the kernels."""

import re
from collections.abc import Iterable, Iterator

from pjrtwheel.abis import FREE_THREADED, STABLE_ABI, VERSIONED, extension_suffix
from pjrtwheel.backend import Backend, Kernels
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.findings import Problem
from pjrtwheel.wheel.metadata import find_requirement


def expected_packages(wheel: WheelContents, backend: Backend) -> tuple[str, ...]:
    """Return the top-level packages that a backend's wheel must have, and no others."""
    if backend.kernels and wheel.name.distribution == backend.kernels_distribution:
        return backend.kernels_package, backend.kernels.package
    return (backend.package,)


def check_plugin(wheel: WheelContents, backend: Backend) -> Iterator[Problem]:
    """The wheel carries the plugin library, or requires one version of the distribution that does."""
    member = f"{backend.package}/{backend.library}"
    if (member in wheel.libraries) != backend.prebuilt.bundled:
        yield member, "is missing" if backend.prebuilt.bundled else "must not be bundled"
    if backend.prebuilt.bundled:
        return
    if not find_requirement(wheel.headers("METADATA").get_all("Requires-Dist", []), backend.prebuilt.project):
        yield f"{wheel.dist_info}/METADATA", f"does not require one version of {backend.prebuilt.project}"


def check_abis(wheel: WheelContents) -> Iterator[Problem]:
    """A module for the stable ABI has a twin for every other ABI that the wheel's name claims."""
    claimed = sorted({tag.abi for tag in wheel.name.tags} - {STABLE_ABI})
    for stem in _stable_modules(wheel.libraries):
        for abi in claimed:
            module = FREE_THREADED.get(abi.removesuffix("t"), abi)
            twin = stem + extension_suffix(module, wheel.architecture)
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
    """Modules of one CPython are kernels for that of their wheel, where JAX looks for them; no other wheel has any."""
    kernels = backend.kernels if backend and wheel.name.distribution == backend.kernels_distribution else None
    found = list(_versioned_modules(wheel))
    for member, match in found:
        if problem := _misplaced(member.rpartition("/")[0], match, kernels, wheel):
            yield member, problem
    if kernels and not found:
        yield "", "has no kernels"


def _misplaced(folder: str, match: re.Match[str], kernels: Kernels | None, wheel: WheelContents) -> str:
    if kernels is None:
        return "is a module of one CPython, which this wheel may not have"
    if folder != kernels.package:
        return f"is in {folder!r}, expected {kernels.package!r}"
    if {f"cp{match['python']}"} != {tag.abi for tag in wheel.name.tags}:
        return "is for another Python than the wheel"
    if match["architecture"] != wheel.architecture:
        return f"has a suffix that no Python on {wheel.architecture} has"
    return ""
