# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open a release that is in a folder, or that somebody published: its files are downloaded and held to `SHA256SUMS`."""

from __future__ import annotations

import functools
import hashlib
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pjrtwheel.attest.checksums import SUMS_FILENAME, read_sums
from pjrtwheel.attest.release_folder import ReleaseFolder, read_release_folder
from pjrtwheel.errors import AttestError, FetchError
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.download import download_file, read_document
from pjrtwheel.fetch.listing import is_address, read_settings, without_login
from pjrtwheel.files import link_or_copy, staging_folder
from pjrtwheel.record.entries import Entry, read_entries
from pjrtwheel.release.model import Pin


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
    base, digests = _find_sums(where, tag, certificate)
    with staging_folder(cache / "releases") as staging:
        folder = staging / "release"
        folder.mkdir()
        _fetch_documents(base, digests, folder, certificate)
        if not documents_only:
            _fetch_wheels(base, digests, folder, cache, certificate)
        yield read_release_folder(folder, documents_only=documents_only)


def _find_sums(where: str, tag: str, certificate: str) -> tuple[str, dict[str, str]]:
    """Return the address of a release's files, with a slash at the end, and what its `SHA256SUMS` lists."""
    base = where.removesuffix(SUMS_FILENAME).rstrip("/") + "/"
    below = [base, f"{base}files/{urllib.parse.quote(tag)}/"] if tag else [base]
    problems: list[FetchError] = []
    for address in below:
        try:
            return address, read_sums(read_document(address + SUMS_FILENAME, certificate))
        except FetchError as error:
            problems.append(error)
    remedy = "give the address below which its files are, or that of a folder of releases with --tag"
    raise FetchError(problems[0].what, cause=problems[0].cause, remedy=remedy) from problems[0]


def _fetch_documents(base: str, digests: Mapping[str, str], folder: Path, certificate: str) -> None:
    for name, digest in digests.items():
        if name.endswith(".whl"):
            continue
        data = read_document(base + urllib.parse.quote(name), certificate)
        if hashlib.sha256(data).hexdigest() != digest:
            raise AttestError(
                f"{without_login(base)}{name} is not the file that {SUMS_FILENAME} lists", cause="its sha256 differs"
            )
        (folder / name).write_bytes(data)
    (folder / SUMS_FILENAME).write_bytes(read_document(base + SUMS_FILENAME, certificate))


def _fetch_wheels(base: str, digests: Mapping[str, str], folder: Path, cache: Path, certificate: str) -> None:
    """Put the wheels into a folder, out of the cache.

    Only those that both documents give one digest: it becomes a path in the cache. Others are refused when the folder
    is read.
    """
    for name, entry in read_entries(folder).items():
        if digests.get(name) == entry.sha256:
            link_or_copy(_fetch_wheel(base, entry, cache, certificate), folder / name)


def _fetch_wheel(base: str, entry: Entry, cache: Path, certificate: str) -> Path:
    pin = Pin("release.wheel", entry.distribution, entry.version, entry.filename, entry.sha256, entry.size)
    download = functools.partial(_download, base, certificate)
    return WheelCache(cache, download).fetch(pin)


def _download(base: str, certificate: str, pin: Pin, folder: Path) -> Path:
    return download_file(base + urllib.parse.quote(pin.filename), folder / pin.filename, pin.size, certificate)
