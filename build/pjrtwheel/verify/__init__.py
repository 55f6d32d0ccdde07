# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Check finished wheels against every promise that their names and metadata make.

All problems of all wheels are reported together, so that one run is enough to mend them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import ElfError, VerifyError, WheelError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.verify import libraries, locks, metadata, tools
from pjrtwheel.verify.contents import WheelContents, read_contents
from pjrtwheel.verify.finding import Finding, Severity
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


def verify_wheels(built: Sequence[BuiltWheel], backends: Sequence[Backend]) -> tuple[Finding, ...]:
    """Check the wheels of one set, each by itself and against each other.

    Args:
        built: The wheels with their reports.
        backends: All backends, to know which library may export what.

    Returns:
        The notes: what was proven, one per wheel.

    Raises:
        VerifyError: At least one wheel breaks a promise; the error lists all that do.
    """
    return _verify([(wheel.path, wheel.report) for wheel in built], backends)


def verify_wheel(wheel: Path, report: Report, backends: Sequence[Backend] = ()) -> tuple[Finding, ...]:
    """Check one wheel by itself; see `verify_wheels`."""
    return _verify([(wheel, report)], backends)


def verify_paths(wheels: Sequence[Path], backends: Sequence[Backend]) -> tuple[Finding, ...]:
    """Check wheels of one set that have no report; see `verify_wheels`."""
    return _verify([(wheel, None) for wheel in wheels], backends)


def _verify(wheels: Sequence[tuple[Path, Report | None]], backends: Sequence[Backend]) -> tuple[Finding, ...]:
    # The checkers are processes of their own, so threads are enough to use every core.
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda item: _verify_one(item[0], item[1], backends), wheels))
    errors = [finding for findings, _ in results for finding in findings]
    documents = {wheel.name: document for (wheel, _), (_, document) in zip(wheels, results, strict=True)}
    errors += [Finding(Severity.ERROR, name, "lock", "", text) for name, text in locks.check_locks(documents)]
    if errors:
        raise VerifyError(
            f"{len(errors)} problems in {len({e.wheel for e in errors})} of {len(wheels)} wheels:",
            cause="\n".join(f"  {error}" for error in errors),
        )
    return tuple(
        Finding(Severity.NOTE, wheel.name, "verify", "", "every promise of its name and metadata holds")
        for wheel, _ in wheels
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
            return [Finding(Severity.ERROR, wheel.name, "zip", "", str(error))], None
    lock = locks.find_lock(contents.texts)
    return problems, lock[1] if lock else None


def _check(wheel: WheelContents, report: Report | None, backends: Sequence[Backend]) -> Iterator[_Named]:
    """Run every check that applies to this wheel."""
    for name, check in (
        ("names", metadata.check_names),
        ("record", metadata.check_record),
        ("wheel", metadata.check_wheel_file),
        ("metadata", metadata.check_metadata),
        ("licenses", metadata.check_licenses),
        ("sbom", metadata.check_sbom),
    ):
        yield from ((name, problem) for problem in check(wheel))
    if report is not None:
        yield from (("requirements", problem) for problem in metadata.check_requirements(wheel, report.requires))
    platforms = sorted({tag.platform for tag in wheel.name.tags})
    yield from (("elf", problem) for problem in _check_libraries(wheel, platforms, backends))
    if wheel.libraries:
        yield from (("auditwheel", problem) for problem in tools.check_platform(wheel.path, platforms))
    if any(tag.abi == "abi3" for tag in wheel.name.tags):
        yield from (("abi3audit", problem) for problem in tools.check_stable_abi(wheel.path))
    yield from (("check-wheel-contents", problem) for problem in tools.check_contents(wheel.path))
    yield from (("twine", problem) for problem in tools.check_twine(wheel.path))


def _check_libraries(
    wheel: WheelContents, platforms: Sequence[str], backends: Sequence[Backend]
) -> Iterator[metadata.Problem]:
    allowed = {f"{backend.package}/{backend.library}": backend.exports for backend in backends}
    machine = next((p.elf_machine for p in PLATFORMS.values() if platforms[0].endswith(p.architecture)), "")
    for member, path in wheel.libraries.items():
        try:
            library = libraries.read_library(path, member)
        except ElfError as error:
            yield member, str(error)
            continue
        yield from libraries.check_library(library, machine)
        if member in allowed:
            yield from libraries.check_exports(library, allowed[member])
        elif member.endswith(".abi3.so"):
            initializer = f"PyInit_{Path(member).name.removesuffix('.abi3.so')}"
            yield from libraries.check_exports(library, (initializer,))
