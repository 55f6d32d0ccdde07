# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The signed list of the releases in a folder: which there are, with which bytes, which are withdrawn, until when.

A signature of one release does not say whether there is a newer one, or whether it was withdrawn. The list is metadata
of The Update Framework (https://theupdateframework.github.io/specification/latest/), written and read by python-tuf, in
which one ed25519 key has all roles: that of the owner, who signs each release with it. Its files are in `metadata/`,
its targets the `SHA256SUMS` of each release.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import CryptoSigner, SSlibKey
from tuf.api.exceptions import DownloadError, DownloadHTTPError, RepositoryError, StorageError
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp
from tuf.ngclient import FetcherInterface, Updater

from pjrtwheel.attest.release_folder import SUMS_FILENAME, ReleaseFolder
from pjrtwheel.errors import AttestError, FetchError, UsageError, fit, printable
from pjrtwheel.fetch.listing import read_document
from pjrtwheel.fetch.settings import is_address, read_settings, without_login
from pjrtwheel.files import make_folder, write_atomically

LIST_FOLDER = "metadata"
_ROOT, _TIMESTAMP = "1.root.json", "timestamp.json"
_ROOT_VALID = timedelta(days=3650)  # who has the key trusts it for as long as they wish
_REMEDY = "do not install it; ask who published it for the release that is valid now"


@dataclass(frozen=True, slots=True)
class ListedRelease:
    """What the list says of one release.

    Attributes:
        sums: Its `SHA256SUMS`.
        withdrawn: Wheel → why it was withdrawn.
    """

    sums: bytes
    withdrawn: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Listing:
    """A release in a list that is valid.

    Attributes:
        version: Version of the list.
        expires: When the list expires, in UTC.
        withdrawn: Why wheels of the release were withdrawn; empty if none was.
    """

    version: int
    expires: str
    withdrawn: tuple[str, ...]


def sign_list(
    folder: Path, releases: Mapping[str, ListedRelease], signer: CryptoSigner, until: datetime, *, forget: bool = False
) -> int:
    """Write the list, the timestamp last: readers see the old list or the new one.

    Args:
        folder: Where it is kept.
        releases: The releases, by tag.
        signer: The key of their owner.
        until: When it expires, in UTC.
        forget: Whether releases and withdrawals of the last list may be missing.

    Returns:
        The version of the list, one more than that of the list that was there.

    Raises:
        UsageError: The list that is there is damaged, is signed with another key, or has more.
    """
    make_folder(folder)
    if not (folder / _ROOT).is_file():
        root = Root(expires=until + _ROOT_VALID)
        for role in root.roles:
            root.add_key(signer.public_key, role)
        _write(folder / _ROOT, root, signer)
    before = _read_last(folder, signer.public_key)
    version = before.version + 1 if before else 1
    targets = Targets(version=version, expires=until)
    for tag, release in releases.items():
        target = TargetFile.from_data(_path_of(tag), release.sums, ["sha256"])
        target.unrecognized_fields["custom"] = {"withdrawn": dict(release.withdrawn)}
        targets.targets[target.path] = target
    gone = _facts(before) - _facts(targets) if before and not forget else set()
    if gone:
        raise UsageError(
            f"the last list in {folder} has releases or withdrawals that are gone: {fit(sorted(gone))}",
            cause="whoever can write there may have removed them; nothing was changed",
            remedy="put them back, or give --forget",
        )
    data = _write(folder / f"{version}.targets.json", targets, signer)
    meta = {"targets.json": MetaFile.from_data(version, data, ["sha256"])}
    data = _write(folder / f"{version}.snapshot.json", Snapshot(version=version, expires=until, meta=meta), signer)
    snapshot = MetaFile.from_data(version, data, ["sha256"])
    _write(folder / _TIMESTAMP, Timestamp(version, expires=until, snapshot_meta=snapshot), signer)
    return version


def _read_last(folder: Path, key: SSlibKey) -> Targets | None:
    """Return what the list in a folder says, also one that has expired; None if there is none yet."""
    try:
        root = _read_root((folder / _ROOT).read_bytes(), key)
        if not (folder / _TIMESTAMP).is_file():
            return None
        timestamp: Metadata[Timestamp] = Metadata.from_file(str(folder / _TIMESTAMP))
        root.signed.verify_delegate("timestamp", timestamp.signed_bytes, timestamp.signatures)
        targets: Metadata[Targets] = Metadata.from_file(str(folder / f"{timestamp.signed.version}.targets.json"))
        root.signed.verify_delegate("targets", targets.signed_bytes, targets.signatures)
    except (RepositoryError, StorageError, UnverifiedSignatureError, KeyError) as error:
        raise UsageError(
            f"the list in {folder} is damaged, or signed with another key",
            cause=printable(str(error)),
            remedy="give the key of its owner, or restore the folder",
        ) from error
    return targets.signed


def _read_root(data: bytes, key: SSlibKey) -> Metadata[Root]:
    """Return the root of a list; raises a `KeyError` or an error of python-tuf's unless the key signed it."""
    root: Metadata[Root] = Metadata.from_bytes(data)
    key.verify_signature(root.signatures[key.keyid], root.signed_bytes)
    return root


def _facts(targets: Targets) -> set[str]:
    """Return what a list says, as entries that can be compared: releases, and wheels that were withdrawn."""
    withdrawn = {name for target in targets.targets.values() for name in target.custom["withdrawn"]}
    return {path.removesuffix(f"/{SUMS_FILENAME}") for path in targets.targets} | withdrawn


def check_list(release: ReleaseFolder, where: str, key: SSlibKey, seen: Path, *, required: bool) -> Listing | None:
    """Make sure that the newest list has a release with these bytes.

    Args:
        release: The release.
        where: The folder of releases or its address; or, if no list is required, that of a release in it.
        key: The key of their owner, who signs one list with it.
        seen: Where the newest list that was seen is kept, so that an older one is refused wherever it is.
        required: Whether there must be a list.

    Returns:
        What the list says; None if there is none.

    Raises:
        FetchError: There is no list.
        AttestError: It is signed by another key, expired, older than one that was seen, put together from several, or
            does not have the release.
    """
    certificate = read_settings().certificate if is_address(where) else ""
    address = where if is_address(where) else Path(where).resolve().as_uri()
    base = address.removesuffix(SUMS_FILENAME).rstrip("/")
    for place in [base] if required else [base, base.rpartition("/")[0].rpartition("/")[0]]:
        url = f"{place}/{LIST_FOLDER}/"
        try:
            root = read_document(url + _ROOT, certificate)
        except FetchError:
            if required:
                raise
        else:
            return _read_list(release, url, root, key, seen / key.keyid, certificate)
    return None


def _read_list(release: ReleaseFolder, url: str, root: bytes, key: SSlibKey, seen: Path, certificate: str) -> Listing:
    make_folder(seen)
    try:
        _read_root(root, key)
        updater = Updater(str(seen), url, fetcher=_Fetcher(certificate), bootstrap=root)
        target = updater.get_targetinfo(_path_of(release.tag))
        if target is None:
            raise AttestError(f"{release.tag} is not in the list at {without_login(url)}", remedy=_REMEDY)
        target.verify_length_and_hashes((release.path / SUMS_FILENAME).read_bytes())
        newest: Metadata[Targets] = Metadata.from_file(str(seen / "targets.json"))  # verified now
    except (RepositoryError, DownloadError, UnverifiedSignatureError, KeyError) as error:
        cause = "it is signed by another key" if isinstance(error, KeyError) else printable(str(error))
        what = f"{release.tag} is not what the list at {without_login(url)} says, or the list is not valid"
        raise AttestError(what, cause=cause, remedy=_REMEDY) from error
    reasons = (target.custom or {}).get("withdrawn", {}).values()
    withdrawn = tuple(sorted(set(map(printable, reasons))))
    return Listing(newest.signed.version, f"{newest.signed.expires:%Y-%m-%dT%H:%M:%SZ}", withdrawn)


class _Fetcher(FetcherInterface):
    """Downloads as all of ours are, also from this disk."""

    def __init__(self, certificate: str) -> None:
        self._certificate = certificate

    def _fetch(self, url: str) -> Iterator[bytes]:
        try:
            yield read_document(url, self._certificate)
        except FetchError as error:
            raise DownloadHTTPError(str(error), 404) from error  # of a newer root, this says that there is none


def _path_of(tag: str) -> str:
    return f"files/{tag}/{SUMS_FILENAME}"


def _write(path: Path, signed: Root | Targets | Snapshot | Timestamp, signer: CryptoSigner) -> bytes:
    document: Metadata[Any] = Metadata(signed)
    document.sign(signer)
    data = document.to_bytes()
    write_atomically(path, data.decode())
    return data
