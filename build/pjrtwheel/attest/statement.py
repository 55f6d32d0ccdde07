# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The statement of a release: in-toto Statement v1 with SLSA provenance v1, one for all of its files.

The dataclasses are the format: `pjrtwheel.tables` reads and writes them. Keys of others are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pjrtwheel.errors import AttestError, explain
from pjrtwheel.tables import TableError, column, metadata, read_json, write_json

STATEMENT_FILENAME = "provenance.intoto.jsonl"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
LOCAL_BUILDER = "urn:pjrtwheel:builder:local"
REPOSITORY = "repository"  # the dependency that is this repository
_SHA256 = r"[0-9a-f]{64}"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Subject:
    """A file of the release."""

    name: str
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

    name: str
    digest: Mapping[str, str]
    uri: str = column(default="", omit_default=True)
    annotations: Mapping[str, Any] = field(default_factory=dict, metadata={"omit_default": True})


@dataclass(frozen=True, slots=True)
class Build:
    """How the wheels of one project and platform were built.

    Attributes:
        distribution: The project, such as `jaxlib-cpu`.
        platform: The platform; `any` for pure Python.
        provider: Where its libraries came from: `prebuilt`, `source`, `file-<sha256>`, or `none` if it has none.
        level: Level of compression; nothing for wheels of other programs, which have no choice of it.
        epoch: SOURCE_DATE_EPOCH; nothing if it was not set.
    """

    distribution: str
    platform: str
    provider: str
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

    tag: str
    version: str = column(key="set")
    builds: tuple[Build, ...] = ()
    release: str = column(default="", omit_default=True)


@dataclass(frozen=True, slots=True)
class BuildDefinition:
    """What would build the release again."""

    parameters: Parameters = field(metadata=metadata(key="externalParameters"))
    dependencies: tuple[Dependency, ...] = column(key="resolvedDependencies")
    build_type: Literal["urn:pjrtwheel:build:1"] = column(key="buildType", default="urn:pjrtwheel:build:1")


@dataclass(frozen=True, slots=True)
class Builder:
    """Who built: a workflow's address, or a name for any machine; and with which version of the tooling."""

    id: str = column(pattern=r"[ -~]+")  # it is printed
    version: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metadata:
    """When and in which run: the moment in UTC, and the address of a workflow's run if it was one."""

    finished: str = column(key="finishedOn")
    invocation: str = column(key="invocationId", default="", omit_default=True)


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
    def digests(self) -> dict[str, str]:
        """File name → sha256."""
        return {subject.name: subject.digest["sha256"] for subject in self.subjects}

    @property
    def repository(self) -> Dependency:
        """The repository and its commit."""
        return next(entry for entry in self.provenance.definition.dependencies if entry.name == REPOSITORY)

    @property
    def commit(self) -> str:
        """The commit of the repository."""
        return self.repository.digest["gitCommit"]

    @property
    def release_file_digest(self) -> str:
        """The sha256 of the release file; empty for `jaxlib-select`, which has none."""
        name = f"releases/{self.parameters.release}.toml"
        found = (entry.digest for entry in self.provenance.definition.dependencies if entry.name == name)
        return next(found, {}).get("sha256", "")

    @property
    def dirty(self) -> bool:
        """Whether files differed from the commit's."""
        return bool(self.repository.annotations.get("dirty"))


def format_statement(statement: Statement) -> bytes:
    """Return the text of a statement: sorted keys and a final newline."""
    return write_json(statement).encode()


def parse_statement(data: bytes) -> Statement:
    """Read a statement.

    Raises:
        AttestError: It is none, of another kind, names a file twice or no commit.
    """
    try:
        statement = read_json(Statement, data, ignore_unknown=True)
        _check(statement)
    except (TableError, StopIteration, KeyError) as error:
        raise AttestError(
            f"{STATEMENT_FILENAME} holds no statement about a release",
            cause="it names no repository" if isinstance(error, StopIteration) else explain(error),
            remedy="get the release again, from who published it",
        ) from error
    return statement


def _check(statement: Statement) -> None:
    names = [subject.name for subject in statement.subjects]
    if len(statement.digests) != len(names):
        raise TableError("subject: a file occurs twice")
    if not _COMMIT.fullmatch(statement.commit):  # git would take a branch as well
        raise TableError(f"resolvedDependencies: {REPOSITORY} has no gitCommit")
