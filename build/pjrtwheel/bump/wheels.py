# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of a bump: built by backend, tried with JAX's own tests, and read to be compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.build import build
from pjrtwheel.bump.comparison import FinishedPlugin
from pjrtwheel.bump.model import Bump
from pjrtwheel.conformance.clients import (
    compare_runs,
    find_python,
    find_test_files,
    make_environment,
    results_folder,
    run_clients,
)
from pjrtwheel.conformance.comparison import Difference, load_expected, load_subset
from pjrtwheel.conformance.run_file import Limits
from pjrtwheel.dist_folder.summary import describe_level
from pjrtwheel.errors import ProofError, count
from pjrtwheel.fetch import unpack_wheel
from pjrtwheel.platforms import host_platform
from pjrtwheel.record.entries import Entry
from pjrtwheel.release.model import Release
from pjrtwheel.sets.finished_set import find_set
from pjrtwheel.sets.projects import BINDINGS
from pjrtwheel.verify.formats import read_library

_FILE_SECONDS, _CASE_SECONDS = 3600, 300  # as `conformance` has them


def build_wheels(bump: Bump, backend: Backend | None) -> str:
    """Build and prove what the index has of a backend for this machine, and say what was proven.

    Raises:
        PjrtWheelError: A step failed; nothing of this backend is published then.
    """
    chosen = (backend,) if backend else ()
    request = BuildRequest(root=bump.root, release=bump.release, backends=chosen, platform=host_platform())
    entries = build(request, tuple(bump.backends.values()), dist=bump.dist, cache=bump.cache)
    wanted = backend.distribution if backend else BINDINGS
    built = (entry for entry in entries if entry.distribution == wanted)
    of_set = (entry for entry in built if entry.version == bump.release.set_version)
    return "; ".join(f"{entry.filename}, {describe_level(entry)}" for entry in of_set)


def run_subset(bump: Bump, backend: Backend, tests: Path) -> tuple[Difference, ...]:
    """Run the few test files of a backend on both clients and compare them.

    Raises:
        PjrtWheelError: The files or the wheels are not there, or a client is not the one that was asked for.
    """
    root, release = bump.root, bump.release
    files = find_test_files(tests, load_subset(root, backend.name))
    wheels = find_set(root, bump.dist, backend, host_platform(), bump.cache, where=release.set_version)
    interpreter, results = find_python(release, None), results_folder(bump.cache, backend, release.set_version)
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        python = make_environment(Path(scratch), root, release, interpreter, wheels.fetch_pair(interpreter.tag))
        run_clients(python, files, backend, Limits(_FILE_SECONDS, _CASE_SECONDS), results=results)
    return compare_runs(results, [path.name for path in files], load_expected(root, backend.name))


def judge_tests(differences: Iterable[Difference]) -> ProofError | None:
    """Return why JAX's tests speak against a release; nothing if every case that is worse has its reason listed."""
    worse, unusable = 0, []
    for difference in differences:
        worse += len(difference.unexpected())
        unusable += [difference.file] if difference.unusable else []
    parts = [f"{count(worse, 'case')} worse than on the built-in client, for no listed reason"] if worse else []
    parts += [f"{', '.join(unusable)} cannot be imported with this JAX"] if unusable else []
    return ProofError("; ".join(parts)) if parts else None


def sizes_of(entries: Iterable[Entry], release: Release, backends: Iterable[Backend]) -> dict[str, list[int]]:
    """Return the lengths of our finished wheels of a release, by distribution and platform."""
    ours = {BINDINGS, *(backend.distribution for backend in backends)}
    found: dict[str, list[int]] = {}
    for entry in entries:
        if entry.distribution in ours and entry.version == release.set_version:
            found.setdefault(f"{entry.distribution} {entry.platform}", []).append(entry.size)
    return found


def read_plugins(
    entries: Iterable[Entry], release: Release, backends: Iterable[Backend], dist: Path
) -> Iterator[FinishedPlugin]:
    """Read the libraries of our finished plugins of a release.

    Raises:
        PjrtWheelError: A wheel is damaged.
    """
    listed = [entry for entry in entries if entry.version == release.set_version]
    for backend in backends:
        for entry in listed:
            if entry.distribution == backend.distribution:
                name = f"{entry.distribution} {entry.platform}"
                exports = _read_exports(dist / entry.filename, backend) if backend.prebuilt.bundled else ()
                yield FinishedPlugin(name, entry.pjrt_api or "", exports)


def _read_exports(wheel: Path, backend: Backend) -> tuple[str, ...]:
    member = f"{backend.package}/{backend.library}"
    with tempfile.TemporaryDirectory(prefix="library-") as scratch:
        unpack_wheel(wheel, Path(scratch), [member])
        return read_library(Path(scratch) / member, member).exports
