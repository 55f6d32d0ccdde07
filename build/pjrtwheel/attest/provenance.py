# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out what the statement of a release says: the commit, the inputs, how each wheel was built, by whom and when."""

from __future__ import annotations

import urllib.parse
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from pjrtwheel.attest.release_set import ReleaseSet, has_library
from pjrtwheel.attest.statement import (
    LOCAL_BUILDER,
    REPOSITORY,
    Build,
    BuildDefinition,
    Builder,
    Dependency,
    Metadata,
    Parameters,
    Provenance,
    RunDetails,
    Statement,
    Subject,
)
from pjrtwheel.errors import AttestError, UsageError, fit
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.origin import Origin, find_date
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.wheel.compress import find_compression, find_epoch


def make_statement(
    found: ReleaseSet, dist: Path, digests: Mapping[str, str], commit: Origin, environ: Mapping[str, str]
) -> Statement:
    """Return the statement of a release about some files.

    Args:
        found: The release.
        dist: Where its wheels are.
        digests: File name → sha256 of what it is about.
        commit: From which state of the repository the wheels are; see `find_commit`.
        environ: Of the process: SOURCE_DATE_EPOCH, and what GitHub says of a workflow's run.
    """
    release = found.release
    builds = _list_builds(found.entries, dist)
    state = {"dirty": bool(commit.dirty)}
    repository = Dependency(
        REPOSITORY, {"gitCommit": commit.commit or ""}, _repository_address(found.tag, environ), state
    )
    builder = Builder(_builder(environ), {"pjrtwheel": commit.version})
    definition = BuildDefinition(
        Parameters(found.tag, found.version, builds, release.version if release else ""),
        (repository, *(_list_inputs(release, found.entries) if release else ())),
    )
    details = RunDetails(builder, Metadata(_date(found, environ), _run(environ)))
    subjects = tuple(Subject(name, {"sha256": digests[name]}) for name in sorted(digests))
    return Statement(subjects, Provenance(definition, details))


def find_commit(entries: Collection[Entry], wanted: str = "") -> Origin:
    """Return the state of the repository that all wheels were built from.

    Args:
        entries: The wheels.
        wanted: The commit that it has to be; any if empty.

    Raises:
        UsageError: They are from several commits, from another one, or from none.
    """
    commits = {entry.built.commit for entry in entries}
    if len(commits) != 1 or None in commits or (wanted and commits != {wanted}):
        raise UsageError(
            f"the wheels were not all built from {wanted or 'one commit'}",
            cause=f"they were built from {fit(sorted((commit or 'no commit')[:12] for commit in commits))}",
            remedy="build all of them again at the commit of the tag; what is proven of the same bytes stays",
        )
    return max((entry.built for entry in entries), key=lambda built: (bool(built.dirty), built.version))


def _list_builds(entries: Iterable[Entry], dist: Path) -> tuple[Build, ...]:
    """Return how each project was built for each platform.

    Raises:
        AttestError: Wheels of one build differ in how they were compressed or dated.
    """
    builds: dict[tuple[str, str], Build] = {}
    for entry in entries:
        wheel, compiled = dist / entry.filename, has_library(entry)
        level = find_compression(wheel) if compiled else None
        place = entry.platform if compiled else "any"
        build = Build(entry.distribution, place, entry.provider, level, find_epoch(wheel))
        if builds.setdefault((entry.distribution, place), build) != build:
            raise AttestError(
                f"the wheels of {entry.distribution} for {place} were not built alike",
                cause=f"{entry.filename} differs from others in level of compression, date or provider",
                remedy="build them again, all with the same options",
            )
    return tuple(builds[key] for key in sorted(builds))


def _list_inputs(release: Release, entries: Iterable[Entry]) -> Iterator[Dependency]:
    """Yield the release file, what it pins, and libraries that were given by path."""
    yield Dependency(f"releases/{release.path.name}", {"sha256": release.digest})
    for pin in release.pins.values():
        yield Dependency(pin.key, {"sha256": pin.sha256}, _package_url(pin))
    for provider in sorted({entry.provider for entry in entries}):
        kind, _, digest = provider.partition("-")
        if kind == "file":
            yield Dependency("library", {"sha256": digest})
        elif kind == "source" and release.xla:
            commit = release.xla.commit
            digests = {"sha256": release.xla.sha256, "gitCommit": commit}
            yield Dependency("xla", digests, f"pkg:github/openxla/xla@{commit}")


def _package_url(pin: Pin) -> str:
    name = urllib.parse.quote(pin.filename, safe="")
    return f"pkg:pypi/{pin.project}@{urllib.parse.quote(pin.version)}?file_name={name}"


def _date(found: ReleaseSet, environ: Mapping[str, str]) -> str:
    """Return the moment that SOURCE_DATE_EPOCH names, or else that of the newest proof: not that of this run."""
    if environ.get("SOURCE_DATE_EPOCH"):
        return find_date(environ)
    return max(proof.origin.date for entry in found.entries for proof in entry.proofs())


def _builder(environ: Mapping[str, str]) -> str:
    server, workflow = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_WORKFLOW_REF")
    return f"{server}/{workflow}" if server and workflow else LOCAL_BUILDER


def _run(environ: Mapping[str, str]) -> str:
    address, number = _repository(environ), environ.get("GITHUB_RUN_ID")
    return (
        f"{address}/actions/runs/{number}/attempts/{environ.get('GITHUB_RUN_ATTEMPT', '1')}"
        if address and number
        else ""
    )


def _repository_address(tag: str, environ: Mapping[str, str]) -> str:
    address = _repository(environ)
    return f"git+{address}@refs/tags/{tag}" if address else ""


def _repository(environ: Mapping[str, str]) -> str:
    """Return the address of the repository whose workflow this is; nothing outside of one."""
    server, repository = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_REPOSITORY")
    return f"{server}/{repository}" if server and repository else ""
