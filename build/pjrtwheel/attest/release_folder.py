# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A folder with one release: the wheels of a tag and the documents about them, all under their sha256.

Such a folder is what is published, staged, promoted, verified and reproduced. Nothing else lies in it, but the METADATA
of its wheels where installers look for it (PEP 658): indexes and GitHub releases have it next to each wheel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.attest.checksums import SUMS_FILENAME, read_sums
from pjrtwheel.attest.envelope import parse_envelope
from pjrtwheel.attest.statement import STATEMENT_FILENAME, Statement, parse_statement
from pjrtwheel.errors import AttestError, UsageError, WheelError, fit
from pjrtwheel.files import hash_file, require_folder
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, read_entries
from pjrtwheel.wheel.names import METADATA_SUFFIX
from pjrtwheel.wheel.read.unpack import read_metadata

_REMEDY = "do not install it: get it again, or make it again (./noxw -s attest -- --tag TAG)"
_EXPECTED = "give a folder as ./noxw -s attest -- --tag TAG writes it, or as it was downloaded"


@dataclass(frozen=True, slots=True)
class ReleaseFolder:
    """One release.

    Attributes:
        path: The folder.
        entries: Its wheels, in order of file name.
        digests: Name → sha256 of every file that `SHA256SUMS` lists: wheels and documents.
        statement: What its provenance says; nothing where it has none.
    """

    path: Path
    entries: tuple[Entry, ...]
    digests: Mapping[str, str]
    statement: Statement | None = None

    @property
    def tag(self) -> str:
        """Its tag; empty without a statement."""
        return self.statement.parameters.tag if self.statement else ""

    @property
    def commit(self) -> str:
        """The commit of the repository that it was built from; empty without a statement."""
        return self.statement.commit if self.statement else ""

    @property
    def wheels(self) -> Mapping[str, Entry]:
        """File name → wheel."""
        return {entry.filename: entry for entry in self.entries}

    @property
    def documents(self) -> tuple[str, ...]:
        """Names of all files that are no wheels, `SHA256SUMS` last."""
        return (*sorted(self.digests.keys() - self.wheels.keys()), SUMS_FILENAME)


@contextmanager
def as_damaged_release() -> Iterator[None]:
    """Turn damage of a wheel or a document into that of its release: one status, whichever command finds it."""
    try:
        yield
    except WheelError as error:
        raise AttestError(error.what, cause=error.cause, remedy=error.remedy) from error


@as_damaged_release()
def read_release_folder(path: Path, *, documents_only: bool = False) -> ReleaseFolder:
    """Read a release, after each of its files was held to `SHA256SUMS`; wheels may be left out for its documents alone.

    Raises:
        UsageError: There is no such folder, or no release in it.
        AttestError: A file is missing, altered or listed nowhere, or `release.json` describes other wheels; or METADATA
            next to a wheel is not the one in it; or its statement is damaged, or about other files.
    """
    require_folder(path, _EXPECTED)
    sums = path / SUMS_FILENAME
    if not sums.is_file():
        raise UsageError(f"{path} is no folder with a release: it has no {SUMS_FILENAME}", remedy=_EXPECTED)
    digests = read_sums(sums.read_bytes())
    present = {file.name for file in path.iterdir()} - {SUMS_FILENAME}
    irregular = sorted(file.name for file in path.iterdir() if file.is_symlink() or not file.is_file())
    _refuse(path, {"no regular file": irregular})
    missing, unlisted = sorted(digests.keys() - present), sorted(present - digests.keys())
    missing = [name for name in missing if not (documents_only and name.endswith(".whl"))]
    altered = [name for name in sorted(digests.keys() & present) if hash_file(path / name) != digests[name]]
    derived = [name for name in unlisted if _wheel_of(name) in digests.keys() & present]
    _refuse(path, {"missing": missing, "not listed": sorted({*unlisted} - {*derived}), "altered": altered})
    _refuse(path, {"not the METADATA of its wheel": [name for name in derived if not _is_metadata(path / name)]})
    entries = read_entries(path)
    _refuse(path, {f"described otherwise by {RELEASE_FILENAME}": _differing(entries, digests)})
    return ReleaseFolder(path, tuple(entries.values()), digests, _read_statement(path, entries, digests))


def check_subjects(statement: Statement, digests: Mapping[str, str]) -> None:
    """Make sure that a statement is about all files of `SHA256SUMS` but the one it is in, and about no others.

    Raises:
        AttestError: It is not; the message names them.
    """
    expected = {name: digest for name, digest in digests.items() if name != STATEMENT_FILENAME}
    if different := dict(expected.items() ^ statement.digests.items()):
        raise AttestError(
            f"{STATEMENT_FILENAME} is about other files than {SUMS_FILENAME}",
            cause=f"only in one of the two, or other bytes: {fit(sorted(different))}",
            remedy=_REMEDY,
        )


def check_commit(statement: Statement, entries: Iterable[Entry]) -> None:
    """Make sure that a statement names the commit that the wheels were built from.

    Raises:
        AttestError: It names another one.
    """
    commits = {entry.built.commit or "no commit" for entry in entries}
    if commits != {statement.commit}:
        raise AttestError(
            f"{STATEMENT_FILENAME} says that the wheels were built from {statement.commit[:12]}",
            cause=f"{RELEASE_FILENAME} says from {fit(sorted(commit[:12] for commit in commits))}",
            remedy=_REMEDY,
        )


def _wheel_of(name: str) -> str:
    """Return the wheel that a file is named after as its METADATA; empty for any other file."""
    wheel = name.removesuffix(METADATA_SUFFIX)
    return wheel if wheel != name and wheel.endswith(".whl") else ""


def _is_metadata(path: Path) -> bool:
    """Return whether a file has the bytes of METADATA in the wheel that it is named after."""
    return path.read_bytes() == read_metadata(path.with_name(_wheel_of(path.name)))


def _read_statement(path: Path, entries: Mapping[str, Entry], digests: Mapping[str, str]) -> Statement | None:
    """Return the statement of a release that has one; it must be about the release, whoever signed it."""
    if STATEMENT_FILENAME not in digests:
        return None
    statement = parse_statement(parse_envelope((path / STATEMENT_FILENAME).read_bytes()).payload)
    check_subjects(statement, digests)
    check_commit(statement, entries.values())
    return statement


def _differing(entries: Mapping[str, Entry], digests: Mapping[str, str]) -> list[str]:
    """Return the wheels that only one of the two lists, or with another digest."""
    listed = {name: digest for name, digest in digests.items() if name.endswith(".whl")}
    described = {name: entry.sha256 for name, entry in entries.items()}
    return sorted({name for name, _ in listed.items() ^ described.items()})


def _refuse(path: Path, problems: Mapping[str, Iterable[str]]) -> None:
    found = [f"{what}: {fit(names)}" for what, names in problems.items() if names]
    if found:
        raise AttestError(
            f"{path} is not the release that its {SUMS_FILENAME} describes", cause="; ".join(found), remedy=_REMEDY
        )
