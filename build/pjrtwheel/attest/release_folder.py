# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A folder with one release: the wheels of a tag and the documents about them, all under their sha256.

Such a folder is what is published, staged, promoted, verified and reproduced. Nothing else lies in it, but the METADATA
of its wheels where installers look for it (PEP 658): indexes and GitHub releases have it next to each wheel. It is on
this disk, or its files are downloaded from an address; either way they are held to `SHA256SUMS`, in the format of
sha256sum(1).
"""

import hashlib
import re
import urllib.parse
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.attest.release_set import find_others
from pjrtwheel.attest.signature import parse_envelope
from pjrtwheel.attest.statement import BOM_FILENAME, STATEMENT_FILENAME, Statement, parse_statement
from pjrtwheel.errors import AttestError, FetchError, UsageError, WheelError, fit
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.listing import download_file, read_document
from pjrtwheel.fetch.settings import is_address, read_settings, without_login
from pjrtwheel.files import hash_file, link_or_copy, require_folder, staging_folder
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, read_entries
from pjrtwheel.release.model import Pin
from pjrtwheel.wheel.names import METADATA_SUFFIX
from pjrtwheel.wheel.unpack import read_metadata

SUMS_FILENAME = "SHA256SUMS"
SIGNATURE_FILENAME = f"{SUMS_FILENAME}.sig"  # of these bytes alone, as openssl writes it; where there is a key
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([0-9A-Za-z_.+!-]+)")  # a name without a folder, as all of a release have
DOCUMENTS = (BOM_FILENAME, RELEASE_FILENAME, STATEMENT_FILENAME)  # of each release, apart from its checksums
LOCK_PREFIX = "pylock."  # of its lock files (PEP 751): an extra of `jaxlib` follows, and .toml
_LOCK = re.compile(rf"{re.escape(LOCK_PREFIX)}[0-9a-z-]+\.toml")
_REMEDY = "do not install it: get it again, or make it again (./noxw attest --tag TAG)"
_EXPECTED = "give a folder as ./noxw attest --tag TAG writes it, or as it was downloaded"


@dataclass(frozen=True, slots=True)
class ReleaseFolder:
    """One release.

    Attributes:
        path: The folder.
        entries: Its wheels, in order of file name.
        digests: Name → sha256 of every file that `SHA256SUMS` lists: wheels and documents.
        statement: What its provenance says.
    """

    path: Path
    entries: tuple[Entry, ...]
    digests: Mapping[str, str]
    statement: Statement

    @property
    def tag(self) -> str:
        """Its tag."""
        return self.statement.parameters.tag

    @property
    def commit(self) -> str:
        """The commit of the repository that it was built from."""
        return self.statement.commit

    @property
    def wheels(self) -> Mapping[str, Entry]:
        """File name → wheel."""
        return {entry.filename: entry for entry in self.entries}

    @property
    def documents(self) -> tuple[str, ...]:
        """Names of all files that are no wheels, `SHA256SUMS` and its signature last."""
        signature = [SIGNATURE_FILENAME] if (self.path / SIGNATURE_FILENAME).is_file() else []
        return (*sorted(self.digests.keys() - self.wheels.keys()), SUMS_FILENAME, *signature)


def format_sums(digests: Mapping[str, str]) -> str:
    r"""Return the text of `SHA256SUMS` for files by name, in order of name.

    >>> format_sums({"a.whl": "0" * 64})[60:]
    '0000  a.whl\n'
    """
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def parse_sums(data: bytes) -> dict[str, str]:
    """Return file name → sha256.

    Raises:
        WheelError: A line is none of sha256sum's, names a file outside the folder, or one twice; or the last one has no
            end, so that it may be half a line.
    """
    digests: dict[str, str] = {}
    *lines, rest = data.decode("latin-1").split("\n")
    for number, line in enumerate([*lines, rest] if rest else lines, 1):
        match = _LINE.fullmatch(line)
        if match is None or match[2] in digests or match[2] in {".", ".."} or number > len(lines):
            raise WheelError(
                f"{SUMS_FILENAME} is damaged in line {number}",
                cause="expected a sha256 and a file name, each file once",
                remedy="copy the release again",
            )
        digests[match[2]] = match[1]
    return digests


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
        AttestError: A file is missing, altered, listed nowhere or none that a release has; or `release.json` describes
            other wheels; or METADATA next to a wheel is not the one in it; or its statement is damaged, or about other
            files.
    """
    require_folder(path, _EXPECTED)
    sums = path / SUMS_FILENAME
    if not sums.is_file():
        raise UsageError(f"{path} is no folder with a release: it has no {SUMS_FILENAME}", remedy=_EXPECTED)
    digests = parse_sums(sums.read_bytes())
    present = {file.name for file in path.iterdir()} - {SUMS_FILENAME, SIGNATURE_FILENAME}
    irregular = sorted(file.name for file in path.iterdir() if file.is_symlink() or not file.is_file())
    _refuse(path, {"no regular file": irregular})
    missing = sorted({BOM_FILENAME, STATEMENT_FILENAME, *digests} - present)
    unlisted = sorted(present - digests.keys())
    missing = [name for name in missing if not (documents_only and name.endswith(".whl"))]
    altered = [name for name in sorted(digests.keys() & present) if hash_file(path / name) != digests[name]]
    wheels = {name for name in digests.keys() & present if name.endswith(".whl")}
    derived = {name: name.removesuffix(METADATA_SUFFIX) for name in unlisted}
    derived = {name: wheel for name, wheel in derived.items() if wheel in wheels}
    _refuse(path, {"missing": missing, "not listed": sorted({*unlisted} - derived.keys()), "altered": altered})
    others = [name for name, wheel in derived.items() if (path / name).read_bytes() != read_metadata(path / wheel)]
    _refuse(path, {"not the METADATA of its wheel": others})
    entries = read_entries(path)
    listed = {(name, digest) for name, digest in digests.items() if name.endswith(".whl")}
    differing = listed ^ {(name, entry.sha256) for name, entry in entries.items()}
    differing |= {(name, "") for name in wheels & entries.keys() if (path / name).stat().st_size != entries[name].size}
    _refuse(path, {f"described otherwise by {RELEASE_FILENAME}": sorted({name for name, _ in differing})})
    unknown = digests.keys() - entries.keys() - _known_documents(entries, digests)
    _refuse(path, {"no file of a release": sorted(unknown)})
    return ReleaseFolder(path, tuple(entries.values()), digests, _read_statement(path, entries, digests))


def _known_documents(entries: Mapping[str, Entry], names: Collection[str]) -> set[str]:
    """Return those of some names that a document of a release has."""
    made = {*DOCUMENTS, *find_others(entries.values(), names)}
    return {name for name in names if name in made or _LOCK.fullmatch(name)}


def _refuse(path: Path, problems: Mapping[str, Iterable[str]]) -> None:
    found = [f"{what}: {fit(names)}" for what, names in problems.items() if names]
    if found:
        what = f"{path} is not the release that its {SUMS_FILENAME} describes"
        raise AttestError(what, cause="; ".join(found), remedy=_REMEDY)


def _read_statement(path: Path, entries: Mapping[str, Entry], digests: Mapping[str, str]) -> Statement:
    """Return the statement of a release, which must be about the release, whoever signed it."""
    statement = parse_statement(parse_envelope((path / STATEMENT_FILENAME).read_bytes()).payload)
    expected = sorted(item for item in digests.items() if item[0] != STATEMENT_FILENAME)
    subjects = sorted((subject.name, subject.digest["sha256"]) for subject in statement.subjects)
    if subjects != expected:  # a file that is named twice counts as well
        different = sorted({name for name, _ in {*subjects} ^ {*expected}})
        raise AttestError(
            f"{STATEMENT_FILENAME} is about other files than {SUMS_FILENAME}",
            cause=f"only in one of the two, or other bytes: {fit(different)}",
            remedy=_REMEDY,
        )
    commits = {entry.built.commit or "no commit" for entry in entries.values()}
    if commits != {statement.commit}:
        raise AttestError(
            f"{STATEMENT_FILENAME} says that the wheels were built from {statement.commit[:12]}",
            cause=f"{RELEASE_FILENAME} says from {fit(sorted(commit[:12] for commit in commits))}",
            remedy=_REMEDY,
        )
    return statement


@contextmanager
def open_release(where: str, cache: Path, *, tag: str = "", documents_only: bool = False) -> Iterator[ReleaseFolder]:
    """Read a release from a folder, or from an address below which its files are.

    Args:
        where: A folder; or a URL such as that of a GitHub Release's downloads, or of a folder that a server serves.
        cache: Where wheels are kept by hash once they are downloaded.
        tag: Its tag, which finds it below the address of a folder with several releases.
        documents_only: Whether its wheels are left out.

    Raises:
        UsageError: It is neither.
        FetchError: A file cannot be downloaded, or is not the one that is listed.
        WheelError: Its `SHA256SUMS` is damaged.
        AttestError: The release is not the one that its documents describe; see `read_release_folder`.
    """
    if not is_address(where):
        yield read_release_folder(Path(where), documents_only=documents_only)
        return
    certificate = read_settings().certificate
    base, sums = _find_sums(where, tag, certificate)
    with staging_folder(cache / "releases") as staging:
        folder = staging / "release"
        folder.mkdir()
        (folder / SUMS_FILENAME).write_bytes(sums)
        _download(base, parse_sums(sums), folder, cache, certificate, documents_only=documents_only)
        yield read_release_folder(folder, documents_only=documents_only)


def _find_sums(where: str, tag: str, certificate: str) -> tuple[str, bytes]:
    """Return the address of a release's files, with a slash at the end, and its `SHA256SUMS`."""
    base = where.removesuffix(SUMS_FILENAME).rstrip("/") + "/"
    try:
        return base, read_document(base + SUMS_FILENAME, certificate)
    except FetchError as error:
        below = f"{base}files/{urllib.parse.quote(tag)}/"
        try:
            if tag:
                return below, read_document(below + SUMS_FILENAME, certificate)
        except FetchError:
            pass  # the first address is the one that the user knows
        remedy = "give the address below which its files are, or that of a folder of releases with --tag"
        raise FetchError(error.what, cause=error.cause, remedy=remedy) from error


def _download(
    base: str, digests: Mapping[str, str], folder: Path, cache: Path, certificate: str, *, documents_only: bool
) -> None:
    """Put the files of a release into a folder, wheels out of the cache."""

    def download(name: str) -> None:
        data = read_document(base + urllib.parse.quote(name), certificate)
        if hashlib.sha256(data).hexdigest() != digests.get(name, ""):
            what = f"{without_login(base)}{name} is not the file that {SUMS_FILENAME} lists"
            raise AttestError(what, cause="its sha256 differs")
        (folder / name).write_bytes(data)

    download(RELEASE_FILENAME)  # which says what else there can be: a server may list anything
    for name in _known_documents(read_entries(folder), digests) - {RELEASE_FILENAME}:
        download(name)
    with suppress(FetchError):
        (folder / SIGNATURE_FILENAME).write_bytes(read_document(base + SIGNATURE_FILENAME, certificate))

    def fetch(pin: Pin, place: Path) -> Path:
        return download_file(base + urllib.parse.quote(pin.filename), place / pin.filename, pin.size, certificate)

    wheels = WheelCache(cache, fetch)
    for name, entry in {} if documents_only else read_entries(folder).items():
        if digests.get(name) == entry.sha256:  # it becomes a path in the cache; another one is refused afterwards
            pin = Pin("release.wheel", entry.distribution, entry.version, name, entry.sha256, entry.size)
            link_or_copy(wheels.fetch(pin), folder / name)
