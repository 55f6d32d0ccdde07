# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Check finished wheels against every promise that their names and metadata make.

All problems of all wheels are reported together, so that one run is enough to mend them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from pjrtwheel.backend import Backend
from pjrtwheel.errors import ElfError, PjrtWheelError, VerifyError, WheelError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import write_atomically
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.verify import accelerator, documents, libraries, locks, metadata, tools
from pjrtwheel.verify.contents import WheelContents, read_contents
from pjrtwheel.verify.finding import Finding, Severity
from pjrtwheel.verify.libraries import Library
from pjrtwheel.wheel.report import BuiltWheel, Report, parse_report, read_built

__all__ = [
    "BuiltWheel",
    "Finding",
    "Report",
    "Severity",
    "parse_report",
    "read_built",
    "verify_paths",
    "verify_wheel",
    "verify_wheels",
]

_Named = tuple[str, metadata.Problem]
_SHOWN = 10


def verify_wheels(
    built: Sequence[BuiltWheel], backends: Sequence[Backend], log: Path | None = None
) -> tuple[Finding, ...]:
    """Check the wheels of one set, each by itself and against each other.

    Args:
        built: The wheels with their reports.
        backends: All backends, to know what the wheel of each may hold.
        log: Where all problems are written when there are many; a place in the cache when not given.

    Returns:
        The notes: what was proven, one per wheel.

    Raises:
        VerifyError: At least one wheel breaks a promise; the error lists all that do.
    """
    return _verify([(wheel.path, wheel.report) for wheel in built], backends, log)


def verify_wheel(wheel: Path, report: Report, backends: Sequence[Backend] = ()) -> tuple[Finding, ...]:
    """Check one wheel by itself; see `verify_wheels`."""
    return _verify([(wheel, report)], backends, None)


def verify_paths(wheels: Sequence[Path], backends: Sequence[Backend], log: Path | None = None) -> tuple[Finding, ...]:
    """Check wheels of one set that have no report; see `verify_wheels`."""
    return _verify([(wheel, None) for wheel in wheels], backends, log)


def _verify(
    wheels: Sequence[tuple[Path, Report | None]], backends: Sequence[Backend], log: Path | None
) -> tuple[Finding, ...]:
    # The checkers are processes of their own, so threads are enough to use every core.
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda item: _verify_one(item[0], item[1], backends), wheels))
    errors = [finding for findings, _ in results for finding in findings]
    contents = {wheel.name: document for (wheel, _), (_, document) in zip(wheels, results, strict=True)}
    errors += [Finding(Severity.ERROR, name, "lock", "", text) for name, text in locks.check_locks(contents)]
    if errors:
        _refuse(errors, len(wheels), log or cache_root(os.environ) / "verify.txt")
    return tuple(
        Finding(Severity.NOTE, wheel.name, "verify", "", "every promise of its name and metadata holds")
        for wheel, _ in wheels
    )


def _refuse(errors: Sequence[Finding], count: int, log: Path) -> NoReturn:
    """Raise one error for all problems; when there are many, they are in a file."""
    shown = [f"  {error}" for error in errors[:_SHOWN]]
    if len(errors) > _SHOWN:
        write_atomically(log, "".join(f"{error}\n" for error in errors))
        shown.append(f"  and {len(errors) - _SHOWN} more; all of them in {log}")
    raise VerifyError(
        f"{len(errors)} problems in {len({error.wheel for error in errors})} of {count} wheels:",
        cause="\n".join(shown),
    )


def _verify_one(wheel: Path, report: Report | None, backends: Sequence[Backend]) -> tuple[list[Finding], str | None]:
    """Return the problems of one wheel and the text of its lock document."""
    with tempfile.TemporaryDirectory(prefix="verify-") as scratch:
        try:
            contents = read_contents(wheel, Path(scratch))
            problems = [
                Finding(Severity.ERROR, wheel.name, check, member, text)
                for check, (member, text) in _check(contents, report, backends)
            ]
        except WheelError as error:
            return [Finding(Severity.ERROR, wheel.name, "zip", "", _one_line(error))], None
    lock = locks.find_lock(contents.texts)
    return problems, lock[1] if lock else None


def _check(wheel: WheelContents, report: Report | None, backends: Sequence[Backend]) -> Iterator[_Named]:
    """Run every check that applies to this wheel."""
    backend = accelerator.find_backend(wheel.name.distribution, backends)
    found: list[Library] = []
    broken: list[metadata.Problem] = []
    for member, path in wheel.libraries.items():
        try:
            found.append(libraries.read_library(path, member))
        except ElfError as error:
            broken.append((member, _one_line(error)))
    yield from _name("elf", broken)
    yield from _check_texts(wheel, report, backend)
    yield from _check_libraries(wheel, found, backend, backends)
    packages = accelerator.expected_packages(wheel, backend) if backend else ()
    yield from _name("check-wheel-contents", tools.check_contents(wheel.path, packages))
    yield from _name("twine", tools.check_twine(wheel.path))


def _check_texts(wheel: WheelContents, report: Report | None, backend: Backend | None) -> Iterator[_Named]:
    """Check what a wheel says about itself."""
    for name, check in (
        ("names", metadata.check_names),
        ("record", metadata.check_record),
        ("wheel", metadata.check_wheel_file),
        ("metadata", metadata.check_metadata),
        ("licenses", metadata.check_licenses),
        ("sbom", documents.check_sbom),
    ):
        yield from _name(name, check(wheel))
    if report is not None:
        yield from _name("requirements", metadata.check_requirements(wheel, report.requires))
    yield from _name("gpu-code", documents.check_gpu_code(wheel, report.gpu_code if report else None))
    if backend is not None:
        yield from _name("plugin", accelerator.check_plugin(wheel, backend))
        yield from _name("kernels", accelerator.check_presence(wheel, backend))


def _check_libraries(
    wheel: WheelContents, found: Sequence[Library], backend: Backend | None, backends: Sequence[Backend]
) -> Iterator[_Named]:
    """Check the libraries, each by itself and all against the tags of the wheel."""
    platforms = sorted({tag.platform for tag in wheel.name.tags})
    platform = next((entry for entry in PLATFORMS.values() if platforms[0].endswith(entry.architecture)), None)
    machine, architecture = (platform.elf_machine, platform.architecture) if platform else ("", "")
    for library in found:
        yield from _name("elf", libraries.check_library(library, machine, backend.search_paths if backend else ()))
    yield from _name("elf", accelerator.check_symbols(found, backends))
    yield from _name("kernels", accelerator.check_kernels(wheel.libraries, backend, architecture))
    if wheel.libraries:
        needed = {name for library in found for name in library.needed}
        external = backend.external if backend else ()
        yield from _name("auditwheel", tools.check_platform(wheel.path, platforms, needed, external))
    for python in sorted({tag.interpreter for tag in wheel.name.tags if tag.abi == "abi3"}):
        yield from _name("abi3audit", tools.check_stable_abi(wheel.libraries, python))


def _one_line(error: PjrtWheelError) -> str:
    """Return what happened and why, on one line."""
    return ": ".join(part for part in (error.what, error.cause) if part)


def _name(check: str, problems: Iterable[metadata.Problem]) -> Iterator[_Named]:
    """Say which check found a problem."""
    return ((check, problem) for problem in problems)
