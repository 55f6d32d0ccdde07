# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Check finished wheels against every promise that their names and metadata make."""

import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from packaging.utils import canonicalize_name

from pjrtwheel.abis import STABLE_ABI, python_version
from pjrtwheel.backend import Backend
from pjrtwheel.errors import VerifyError, WheelError, count
from pjrtwheel.progress import LINES, Progress, Step
from pjrtwheel.release.wheels import LOCK_FILENAME
from pjrtwheel.verify import accelerator, checkers, documents
from pjrtwheel.verify.contents import WheelContents, read_contents, read_libraries
from pjrtwheel.verify.documents import check_documents
from pjrtwheel.verify.findings import REPORTED, Finding, Problem, describe_error
from pjrtwheel.verify.libraries import Allowed, check_floors, check_libraries, check_system, is_tolerated
from pjrtwheel.wheel.names import FILENAME_FORM, find_name, parse_name, split_label


def verify_wheels(wheels: Sequence[Path], backends: Sequence[Backend], progress: Progress = LINES) -> None:
    """Check the wheels of one set, each by itself and against each other; the backends say what each may hold.

    Raises:
        VerifyError: At least one wheel breaks a promise; the error lists all that do.
    """
    # The checkers are processes of their own, so threads are enough to use every core.
    with progress.step("verify", len(wheels)) as step, ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda wheel: _verify_one(wheel, backends, step), wheels))
    named = [(wheel.name, result) for wheel, result in zip(wheels, results, strict=True)]
    found = [(name, finding) for name, (findings, _) in named for finding in findings]
    held = {name: lock for name, (_, lock) in named if lock is not None}
    found += [(name, Finding("other-lock", "", text)) for name, text in documents.check_locks(held)]
    if found:
        _refuse(found, len(wheels))


def _refuse(found: Sequence[tuple[str, Finding]], total: int) -> NoReturn:
    """Raise one error for the findings of all wheels."""
    raise VerifyError(
        f"{count(len(found), 'problem')} in {len({wheel for wheel, _ in found})} of {count(total, 'wheel')}:",
        cause="\n".join(f"  {wheel}: {finding}" for wheel, finding in found),
        remedy="" if all(find_name(wheel) for wheel, _ in found) else f"a wheel is called {FILENAME_FORM}",
    )


def _verify_one(wheel: Path, backends: Sequence[Backend], step: Step) -> tuple[list[Finding], str | None]:
    """Return what is wrong with a wheel, and the text of its lock, if it has one."""
    try:
        name = parse_name(wheel.name)
    except WheelError as error:  # whose first line repeats the name
        return [Finding("zip", "", error.cause)], None
    with step.item(name.short), tempfile.TemporaryDirectory(prefix="verify-") as scratch:
        try:
            contents = read_contents(_without_label(wheel, Path(scratch)), Path(scratch))
            findings = list(_check(contents, backends))
        except WheelError as error:
            return [Finding("zip", "", describe_error(error))], None
    lock = documents.find_document(contents.texts, LOCK_FILENAME)
    return findings, lock[1] if lock else None


def _without_label(wheel: Path, scratch: Path) -> Path:
    """Return a variant under the name that it has without its label (PEP 825), which no checker knows; others as is."""
    plain, label = split_label(wheel.name)
    if not label:
        return wheel
    link = scratch / plain
    link.symlink_to(wheel.absolute())
    return link


def _check(wheel: WheelContents, backends: Sequence[Backend]) -> Iterator[Finding]:
    plugins: dict[str, Backend] = {canonicalize_name(name): entry for entry in backends for name in entry.distributions}
    backend = plugins.get(wheel.name.distribution)
    libraries, broken = read_libraries(wheel)
    yield from broken
    allowed = Allowed({entry.library: entry.exports for entry in backends})
    if backend:
        allowed = replace(allowed, search_paths=backend.search_paths, external=backend.external)
    ours = bool(wheel.libraries) or backend is not None  # nothing of others is in the rest, and it goes with any jaxlib
    by_member = {library.member: library for library in libraries}
    for finding in (*check_documents(wheel), *check_libraries(libraries, wheel.name.platform, allowed)):
        ignored = finding.code in REPORTED or (finding.code in {"sbom", "lock"} and not ours)
        if not ignored and not is_tolerated(finding, by_member, allowed):
            yield finding
    platform = wheel.name.platform
    if wheel.libraries and platform is None:
        yield Finding("architecture", "", "the platform tag is that of no system and processor we have wheels for")
    elif wheel.libraries and platform:
        yield from (entry for entry in check_floors(libraries, wheel.platform_tags) if entry.code not in REPORTED)
        yield from check_system(wheel, libraries, platform, allowed.external)
    for code, problems in _check_promises(wheel, backend, plugins):
        yield from (Finding(code, member, text) for member, text in problems)


def _check_promises(
    wheel: WheelContents, backend: Backend | None, plugins: Collection[str]
) -> Iterator[tuple[str, Iterable[Problem]]]:
    """Yield what is promised of our wheels alone, and what the community's checkers say, by code."""
    yield "wheel", documents.check_wheel_file(wheel)
    yield "set", documents.check_set(wheel, plugins)
    if backend is not None and wheel.name.distribution == canonicalize_name(backend.distribution):
        yield "plugin", accelerator.check_plugin(wheel, backend)
    yield "kernels", accelerator.check_kernels(wheel, backend)
    yield "abi", accelerator.check_abis(wheel)
    stable = {tag.interpreter for tag in wheel.name.tags if tag.abi == STABLE_ABI}
    if stable and wheel.libraries:  # the oldest Python has the smallest ABI
        yield "abi3audit", checkers.check_stable_abi(wheel.libraries, min(stable, key=python_version))
    if not wheel.is_metadata_only():
        packages = accelerator.expected_packages(wheel, backend) if backend else ()
        yield "check-wheel-contents", checkers.check_contents(wheel.path, packages)
    yield "twine", checkers.check_twine(wheel.path)
