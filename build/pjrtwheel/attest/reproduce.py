# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build the wheels of a published release again, at its commit and from its pins, and compare them byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.attest.checkout import Checkout, check_out
from pjrtwheel.attest.difference import explain_difference
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.attest.release_set import has_library
from pjrtwheel.attest.statement import Build, Statement
from pjrtwheel.backend import load_backends, pick_backend
from pjrtwheel.errors import ReproduceError, UsageError, fit, list_choices
from pjrtwheel.files import copy_atomically
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, format_entries
from pjrtwheel.sets.projects import AUTO, BINDINGS, SELECTOR


@dataclass(frozen=True, slots=True)
class RebuildSelection:
    """Which wheels to build again; of what is empty, all.

    Attributes:
        backend: Name of a backend, for its plugin alone.
        platform: Name of a platform.
        wheels: File names.
    """

    backend: str = ""
    platform: str = ""
    wheels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of one wheel: in what it differs from the published one, in words; nothing for the same bytes."""

    filename: str
    differences: tuple[str, ...]


def reproduce(release: ReleaseFolder, repository: Path, selection: RebuildSelection) -> tuple[Comparison, ...]:
    """Build wheels of a release again, and return how each compares, in order of file name.

    Args:
        release: The release.
        repository: A clone of the repository, with the commit of the release.
        selection: Which of its wheels.

    Raises:
        UsageError: It has no such wheel.
        ReproduceError: It cannot be built again: of a state that is in no commit, or from a library that is nowhere.
    """
    statement = _require_statement(release)
    with (
        check_out(repository, statement.commit) as checkout,
        tempfile.TemporaryDirectory(prefix="reproduced-") as scratch,
    ):
        chosen = _choose(release, statement, checkout, selection)
        for build in chosen:
            _require_provider(build)
        return tuple(
            comparison
            for number, (build, entries) in enumerate(chosen.items())
            for comparison in _reproduce(release, checkout, build, entries, Path(scratch) / str(number))
        )


def _require_statement(release: ReleaseFolder) -> Statement:
    statement = release.statement
    if statement is None:
        raise ReproduceError(f"{release.path} does not say how it was built", cause="it has no statement")
    if statement.dirty:
        raise ReproduceError(
            f"{release.tag} cannot be built again",
            cause=f"it was built with changes on top of {statement.commit}, which are in no commit",
        )
    return statement


def _require_provider(build: Build) -> None:
    if build.provider.startswith("file-"):
        raise ReproduceError(
            f"{build.distribution} for {build.platform} cannot be built again",
            cause=f"its library was given by path; its sha256 is {build.provider.removeprefix('file-')}",
            remedy="build the others, with --backend, --platform or --wheel",
        )


def _choose(
    release: ReleaseFolder, statement: Statement, checkout: Checkout, selection: RebuildSelection
) -> dict[Build, list[Entry]]:
    """Return the builds to run, each with the wheels to compare, plugins first."""
    unknown = sorted(set(selection.wheels) - release.wheels.keys())
    if unknown:
        remedy = f"it has {list_choices(release.wheels, unknown[0])}"
        raise UsageError(f"{release.tag} has no wheel {unknown[0]}", remedy=remedy)
    project = _project_of(checkout, selection.backend) if selection.backend else ""
    builds = {(build.distribution, build.platform): build for build in statement.parameters.builds}
    chosen: dict[Build, list[Entry]] = {}
    for entry in release.entries:
        build = builds.get((entry.distribution, entry.platform if has_library(entry) else "any"))
        if build is None:
            raise ReproduceError(f"the statement of {release.tag} does not say how {entry.filename} was built")
        if _is_selected(entry, build, selection, project):
            chosen.setdefault(build, []).append(entry)
    if not chosen:
        found = sorted({f"{build.distribution} for {build.platform}" for build in builds.values()})
        raise UsageError(f"{release.tag} has no such wheel", remedy=f"it has {fit(found)}")
    return chosen


def _is_selected(entry: Entry, build: Build, selection: RebuildSelection, project: str) -> bool:
    return (
        (not selection.wheels or entry.filename in selection.wheels)
        and selection.platform in {"", build.platform}
        and project in {"", build.distribution}
    )


def _project_of(checkout: Checkout, backend: str) -> str:
    known = load_backends(checkout.root)
    try:
        return pick_backend(known, backend).distribution
    except UsageError as error:
        raise UsageError(error.what, remedy=f"at that commit there are: {list_choices(known, backend)}") from error


def _reproduce(
    release: ReleaseFolder, checkout: Checkout, build: Build, entries: Collection[Entry], dist: Path
) -> list[Comparison]:
    if build.distribution == AUTO:
        _put_others(release, dist)
    session, command, options = _command(checkout, build, release)
    checkout.run(session, command, (*options, "--dist", str(dist)), build.epoch)
    return [
        Comparison(entry.filename, _compare(release.path / entry.filename, dist / entry.filename)) for entry in entries
    ]


def _compare(published: Path, rebuilt: Path) -> tuple[str, ...]:
    return explain_difference(published, rebuilt) if rebuilt.is_file() else ("building again gave no such wheel",)


def _command(checkout: Checkout, build: Build, release: ReleaseFolder) -> tuple[str, Sequence[str], tuple[str, ...]]:
    """Return the session that builds, its command of the tooling, and their options."""
    version = release.statement.parameters.release if release.statement else ""
    if build.distribution == SELECTOR:
        return "build_select", ["select"], ()
    if build.distribution == AUTO:
        return "build_auto", ["auto"], ("--release", version)
    options = ["--release", version, "--platform", build.platform, "--no-smoke", "--xla", build.provider]
    options += ["--level", str(build.level)] if build.level is not None else []
    if build.distribution == BINDINGS:
        return "build_jaxlib", ["build", "--bindings-only"], tuple(options)
    backends = {backend.distribution: name for name, backend in load_backends(checkout.root).items()}
    if build.distribution not in backends:
        raise ReproduceError(f"no backend of {release.commit} makes {build.distribution}")
    name = backends[build.distribution]
    return f"build_{name}", ["build", name], tuple(options)


def _put_others(release: ReleaseFolder, dist: Path) -> None:
    """Make a folder with all wheels that `jaxlib-auto` is about, as it was when that was built.

    They are copies: what runs then is another commit's tooling, which must not reach what was published.
    """
    others = {name: entry for name, entry in release.wheels.items() if entry.distribution != AUTO}
    for name in others:
        copy_atomically(release.path / name, dist / name)
    (dist / RELEASE_FILENAME).write_text(format_entries(others), "utf-8")
