# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Verify a release as those who receive it: every document, every wheel, and who signed it. Needs no network."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from securesystemslib.signer import SSlibKey

from pjrtwheel.attest.locks import check_lock
from pjrtwheel.attest.release_folder import LOCK_PREFIX, SIGNATURE_FILENAME, SUMS_FILENAME, ReleaseFolder
from pjrtwheel.attest.release_list import Listing
from pjrtwheel.attest.signature import check_bytes, check_signature, parse_envelope
from pjrtwheel.attest.statement import BOM_FILENAME, STATEMENT_FILENAME, Statement, build_of
from pjrtwheel.errors import AttestError, PjrtWheelError, fit
from pjrtwheel.record.entries import Entry, check_sets
from pjrtwheel.release.wheels import identify
from pjrtwheel.sets import BINDINGS
from pjrtwheel.sets.published import read_lock
from pjrtwheel.sets.tags import tag_of_wheel
from pjrtwheel.verify import documents
from pjrtwheel.verify.contents import read_contents
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.sbom import parse_bom

_REMEDY = "do not install it; get the release again, from who published it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What is certain of a release that was verified, for programs.

    Attributes:
        tag: Its tag.
        commit: The commit that it was built from, as its statement says.
        builder: Who built it, as its statement says.
        date: When, as its statement says.
        wheels: Names of its wheels.
        documents: Names of its other files.
        opened: Whether the wheels were there, and each is as its RECORD and lock say.
        key: Identity of the key that signed it; empty if none was given, so that nobody knows who made all this.
        listing: What the newest list of releases says of it; None if there is no list, or no key.
    """

    schema: Literal[1] = 1
    tag: str
    commit: str
    builder: str
    date: str
    wheels: tuple[str, ...]
    documents: tuple[str, ...]
    opened: bool
    key: str
    listing: Listing | None


def verify_release(
    release: ReleaseFolder, *, key: SSlibKey | None = None, tag: str = "", documents_only: bool = False
) -> Statement:
    """Verify a release whose files were held to `SHA256SUMS` already, and return what it says of its making.

    Args:
        release: The release.
        key: The key that must have signed its statement, if one must.
        tag: The tag that it must be of, if it must be of one.
        documents_only: Whether its wheels are not there, and not looked into.

    Raises:
        AttestError: It has no wheels, is of another tag, is not signed by the key, or its wheels are not what it
            says.
    """
    if not release.entries:
        raise AttestError(f"{release.path} has no wheels", remedy=_REMEDY)
    if key:
        check_signature(parse_envelope((release.path / STATEMENT_FILENAME).read_bytes()), key)
        if (signature := release.path / SIGNATURE_FILENAME).is_file():
            check_bytes((release.path / SUMS_FILENAME).read_bytes(), signature.read_bytes(), key, SIGNATURE_FILENAME)
    if tag and tag != release.tag:
        raise AttestError(f"the release is {release.tag}, not {tag}", remedy=_REMEDY)
    problems = [*_check_entries(release), *_check_bom(release)]
    for name in release.documents:
        if name.startswith(LOCK_PREFIX):
            check_lock(name, (release.path / name).read_bytes(), release.entries)
    if not documents_only and not problems:
        problems = _check_wheels(release)
    if problems:
        raise AttestError(f"{release.tag} is not a sound release", cause=fit(problems, "; "), remedy=_REMEDY)
    return release.statement


def _check_entries(release: ReleaseFolder) -> Iterator[str]:
    """The tag follows from the wheels; they are of the stated version, of one set, and of builds that are named."""
    parameters = release.statement.parameters
    version = parameters.version
    names = [parse_name(entry.filename) for entry in release.entries]
    of_bindings = {tag_of_wheel(name) for name in names if name.distribution == BINDINGS}  # which number the set
    if {release.tag} != (tags := of_bindings or set(map(tag_of_wheel, names))):
        yield f"its tag is {release.tag}, that of its wheels {fit(sorted(tags))}"
    yield from (f"{entry.filename} is not of {version}" for entry in release.entries if entry.version != version)
    try:
        check_sets(release.entries, release.tag)
    except PjrtWheelError as error:
        yield error.what
    built = {(build.distribution, build.platform) for build in parameters.builds}
    for entry in release.entries:
        if build_of(entry) not in built:
            yield f"{entry.filename} is of no build that {STATEMENT_FILENAME} names"


def _check_bom(release: ReleaseFolder) -> Iterator[str]:
    """The bill of materials has every wheel with its digest."""
    bom = parse_bom((release.path / BOM_FILENAME).read_bytes(), BOM_FILENAME)
    listed = {(part.name, digest.content) for part in bom.components for digest in part.hashes}
    for entry in release.entries:
        if (entry.distribution, entry.sha256) not in listed:
            yield f"{BOM_FILENAME} does not have {entry.filename}"


def _check_wheels(release: ReleaseFolder) -> list[str]:
    """Look into every wheel: its RECORD, its names, and its lock."""
    digest = release.statement.shared_digest
    with ThreadPoolExecutor(2) as pool:  # each may unpack a gigabyte
        found = pool.map(lambda entry: list(_check_wheel(release.path, entry, digest)), release.entries)
    return [problem for wheel in found for problem in wheel]


def _check_wheel(folder: Path, entry: Entry, digest: str) -> Iterator[str]:
    """Yield what is wrong with a wheel."""
    path = folder / entry.filename
    try:
        with tempfile.TemporaryDirectory(prefix="verify-") as scratch:
            contents = read_contents(path, Path(scratch))
    except PjrtWheelError as error:
        yield f"{error.what} {error.cause}".strip()
        return
    checks = (
        *documents.check_record(contents),
        *documents.check_wheel_file(contents),
        *documents.check_metadata(contents),
        *documents.check_set(contents, ()),
    )
    yield from (f"{entry.filename}: {member} {text}".replace("  ", " ") for member, text in checks)
    yield from _check_lock(path, entry, digest)


def _check_lock(path: Path, entry: Entry, digest: str) -> Iterator[str]:
    """A wheel with libraries has the lock that `release.json` names, and it is of the release file that is attested."""
    if not entry.has_library:
        return
    try:
        lock = read_lock(path, entry.package)
    except PjrtWheelError as error:
        yield error.what
        return
    if lock.lock_id != entry.lock_id:
        yield f"{path.name} has the lock {lock.lock_id}, expected {entry.lock_id}"
    elif not digest:
        yield f"{STATEMENT_FILENAME} names no pins that the lock of {path.name} could be of"
    elif lock.lock_id != identify(digest, lock.build, lock.provider):
        yield f"the lock of {path.name} is not of the pins that are attested"
