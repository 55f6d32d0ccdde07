# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The statement of a release: in-toto Statement v1 with SLSA provenance v1, one for all of its files.

The dataclasses are the format: `pjrtwheel.tables` reads and writes them. Keys of others are passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from packageurl import PackageURL

from pjrtwheel.attest.release_set import ReleaseSet
from pjrtwheel.errors import AttestError, UsageError, explain, fit
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.origin import COMMIT, DATE, VERSION, Origin, find_date
from pjrtwheel.release.model import Release
from pjrtwheel.tables import TableError, column, metadata, read_json
from pjrtwheel.wheel.compress import find_compression, find_epoch

STATEMENT_FILENAME = "provenance.intoto.jsonl"
BOM_FILENAME = "sbom.cdx.json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
LOCAL_BUILDER = "urn:pjrtwheel:builder:local"
REPOSITORY = "repository"  # the dependency that is this repository
SHARED_PINS = "shared-pins"  # what the lock id is of; those for one Python are not in it
_SHA256 = r"[0-9a-f]{64}"
_WORD = r"[!-~]+"  # of what is printed: ASCII without spaces


@dataclass(frozen=True, slots=True)
class Subject:
    """A file of the release."""

    name: str = field(metadata=metadata(pattern=r"[\w.+!-]+"))
    digest: Mapping[str, str] = column(pattern=_SHA256)


@dataclass(frozen=True, slots=True)
class Dependency:
    """What the release was made from.

    Attributes:
        name: Name of the input in the release file, `repository`, or the path of the release file.
        digest: Algorithm → digest: `gitCommit` of the repository, `sha256` of all else.
        uri: Where it is from; empty if that is not known.
        annotations: `dirty` of a repository: whether files differed from the commit's.
    """

    name: str = field(metadata=metadata(pattern=_WORD))
    digest: Mapping[str, str] = column(pattern=f"{COMMIT}|{_SHA256}")
    uri: str = column(pattern=f"|{_WORD}", default="", omit_default=True)
    annotations: Mapping[str, bool] = field(default_factory=dict, metadata={"omit_default": True})


@dataclass(frozen=True, slots=True)
class Build:
    """How the wheels of one project and platform were built.

    Attributes:
        distribution: The project, such as `jaxlib-cpu`.
        platform: The platform; `any` for pure Python.
        provider: Where its libraries came from: `prebuilt`, `source`, `source-<sha256>` of the
            options, `file-<sha256>` of the library, or `none` if it has none.
        level: Level of compression; nothing for wheels of other programs, which have no choice of it.
        epoch: SOURCE_DATE_EPOCH; nothing if it was not set.
    """

    distribution: str = field(metadata=metadata(pattern=_WORD))
    platform: str = field(metadata=metadata(pattern=_WORD))
    provider: str = field(metadata=metadata(pattern=f"|{_WORD}"))
    level: int | None = column(key="compressionLevel", default=None, omit_default=True)
    epoch: int | None = column(key="sourceDateEpoch", default=None, omit_default=True)


@dataclass(frozen=True, slots=True)
class Parameters:
    """What was asked for.

    Attributes:
        tag: The tag.
        version: Version of the set.
        release: The JAX release; empty for `jaxlib-select`.
        builds: One for each project and platform.
    """

    tag: str = field(metadata=metadata(pattern=_WORD))
    version: str = column(key="set", pattern=VERSION)
    builds: tuple[Build, ...] = ()
    release: str = column(pattern=VERSION, default="", omit_default=True)


@dataclass(frozen=True, slots=True)
class BuildDefinition:
    """What would build the release again."""

    parameters: Parameters = field(metadata=metadata(key="externalParameters"))
    dependencies: tuple[Dependency, ...] = column(key="resolvedDependencies")
    build_type: Literal["urn:pjrtwheel:build:1"] = column(key="buildType", default="urn:pjrtwheel:build:1")


@dataclass(frozen=True, slots=True)
class Builder:
    """Who built: a workflow's address, or a name for any machine; and with which version of the tooling."""

    id: str = column(pattern=_WORD)
    version: Mapping[str, str] = field(default_factory=dict, metadata=metadata(pattern=VERSION))


@dataclass(frozen=True, slots=True)
class Metadata:
    """When and in which run: the moment in UTC, and the address of a workflow's run if it was one."""

    finished: str = column(key="finishedOn", pattern=DATE)
    invocation: str = column(key="invocationId", pattern=f"|{_WORD}", default="", omit_default=True)


@dataclass(frozen=True, slots=True)
class RunDetails:
    """Who built, and when."""

    builder: Builder
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Provenance:
    """SLSA provenance v1."""

    definition: BuildDefinition = field(metadata=metadata(key="buildDefinition"))
    details: RunDetails = field(metadata=metadata(key="runDetails"))


@dataclass(frozen=True, slots=True)
class Statement:
    """An in-toto statement about files."""

    subjects: tuple[Subject, ...] = field(metadata=metadata(key="subject"))
    provenance: Provenance = field(metadata=metadata(key="predicate"))
    type: Literal["https://in-toto.io/Statement/v1"] = column(key="_type", default="https://in-toto.io/Statement/v1")
    predicate_type: Literal["https://slsa.dev/provenance/v1"] = column(
        key="predicateType", default="https://slsa.dev/provenance/v1"
    )

    @property
    def parameters(self) -> Parameters:
        """What was asked for."""
        return self.provenance.definition.parameters

    @property
    def repository(self) -> Dependency:
        """The repository and its commit."""
        return next(entry for entry in self.provenance.definition.dependencies if entry.name == REPOSITORY)

    @property
    def commit(self) -> str:
        """The commit of the repository."""
        return self.repository.digest["gitCommit"]

    @property
    def shared_digest(self) -> str:
        """The digest of the pins that all wheels share, as in the lock; empty for `jaxlib-select`, which has none."""
        found = (entry.digest for entry in self.provenance.definition.dependencies if entry.name == SHARED_PINS)
        return next(found, {}).get("sha256", "")

    @property
    def dirty(self) -> bool:
        """Whether files differed from the commit's."""
        return self.repository.annotations.get("dirty", False)


def parse_statement(data: bytes) -> Statement:
    """Read a statement.

    Raises:
        AttestError: It is none, of another kind, or names no commit.
    """
    try:
        statement = read_json(Statement, data, ignore_unknown=True)
        statement.repository.digest["gitCommit"]
    except (TableError, StopIteration, KeyError) as error:
        raise AttestError(
            f"{STATEMENT_FILENAME} holds no statement about a release",
            cause="it names no repository" if isinstance(error, StopIteration) else explain(error),
            remedy="get the release again, from who published it",
        ) from error
    return statement


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
    address, builder, run = _describe_run(environ)
    source = f"git+{address}@refs/tags/{found.tag}" if address else ""
    repository = Dependency(REPOSITORY, {"gitCommit": commit.commit or ""}, source, {"dirty": bool(commit.dirty)})
    release = found.release
    builds = _list_builds(found.entries, dist)
    definition = BuildDefinition(
        Parameters(found.tag, found.version, builds, release.version if release else ""),
        (repository, *(_list_inputs(release, found.entries) if release else ())),
    )
    # The moment that SOURCE_DATE_EPOCH names, or that of the newest proof: not that of this run.
    newest = max(proof.origin.date for entry in found.entries for proof in entry.proofs())
    date = find_date(environ) if environ.get("SOURCE_DATE_EPOCH") else newest
    details = RunDetails(Builder(builder, {"pjrtwheel": commit.version}), Metadata(date, run))
    subjects = tuple(Subject(name, {"sha256": digests[name]}) for name in sorted(digests))
    return Statement(subjects, Provenance(definition, details))


def find_commit(entries: Collection[Entry], wanted: str = "") -> Origin:
    """Return the state of the repository that all wheels were built from; it has to be a wanted one, if any.

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


def build_of(entry: Entry) -> tuple[str, str]:
    """Return project and platform of the build that a wheel is of: `any` for wheels without a library."""
    return entry.distribution, entry.platform if entry.has_library else "any"


def _list_builds(entries: Iterable[Entry], dist: Path) -> tuple[Build, ...]:
    """Return how each project was built for each platform.

    Raises:
        AttestError: Wheels of one build differ in how they were compressed or dated.
    """
    builds: dict[tuple[str, str], Build] = {}
    for entry in entries:
        wheel = dist / entry.filename
        level = find_compression(wheel) if entry.has_library else None
        build = Build(*build_of(entry), entry.provider, level, find_epoch(wheel))
        if builds.setdefault(build_of(entry), build) != build:
            raise AttestError(
                f"the wheels of {build.distribution} for {build.platform} were not built alike",
                cause=f"{entry.filename} differs from others in level of compression, date or provider",
                remedy="build them again, all with the same options",
            )
    return tuple(builds[key] for key in sorted(builds))


def _list_inputs(release: Release, entries: Iterable[Entry]) -> Iterator[Dependency]:
    """Yield the release file, what it pins, and libraries that were given by path."""
    yield Dependency(f"releases/{release.path.name}", {"sha256": release.digest})
    yield Dependency(SHARED_PINS, {"sha256": release.shared_digest})
    for pin in release.pins.values():
        url = PackageURL("pypi", None, pin.project, pin.version, {"file_name": pin.filename})
        yield Dependency(pin.key, {"sha256": pin.sha256}, url.to_string())
    for provider in sorted({entry.provider for entry in entries}):
        kind, _, digest = provider.partition("-")
        if digest:  # of the library, or of the options that say which XLA was built how
            yield Dependency({"file": "library", "source": "source-options"}[kind], {"sha256": digest})
        elif kind == "source" and (xla := release.xla):
            digests = {"sha256": xla.sha256, "gitCommit": xla.commit}
            yield Dependency("xla", digests, f"pkg:github/openxla/xla@{xla.commit}")


def _describe_run(environ: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the addresses of the repository, the workflow and its run; only a builder's name outside of a workflow."""
    server, repository = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_REPOSITORY")
    if not server or not repository:
        return "", LOCAL_BUILDER, ""
    address = f"{server}/{repository}"
    workflow, number, attempt = (
        environ.get(name, "") for name in ("GITHUB_WORKFLOW_REF", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT")
    )
    return address, f"{server}/{workflow}", f"{address}/actions/runs/{number}/attempts/{attempt}"
