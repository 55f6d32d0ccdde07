# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the static index says of one GitHub Release, whose files its owners can exchange at any time.

`release.json` and lists of variants are believed as far as `SHA256SUMS` of the same release lists them, and a wheel as
far as both agree with the digest that GitHub states of the asset. No wheel is downloaded for that: of an asset without
a digest, as older servers have them, the sha256 in `release.json` is believed if the size is right. METADATA next to a
wheel is in neither document; it is taken as GitHub serves it.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from github.GitReleaseAsset import GitReleaseAsset

from pjrtwheel.attest.release_folder import SUMS_FILENAME, parse_sums
from pjrtwheel.errors import PublishError, shorten
from pjrtwheel.products.index.projects import IndexedFile, IndexedRelease, join_url, read_requires_python
from pjrtwheel.publish.github_assets import digest_of
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, read_entries
from pjrtwheel.wheel.names import METADATA_SUFFIX, PROVENANCE_SUFFIX, VARIANTS_SUFFIX

Assets = Mapping[str, GitReleaseAsset]
Read = Callable[[GitReleaseAsset], bytes]

_REMEDY = "put back what was published, or delete that release; the index stays as it is"
_SHOWN = 3


def read_listed(what: str, assets: Assets, read: Read) -> Mapping[str, Entry]:
    """Return the wheels that a release lists; `what` names it in messages.

    Raises:
        PublishError: It is not what its `SHA256SUMS` lists.
        WheelError: A document is damaged.
    """
    if SUMS_FILENAME not in assets:
        raise PublishError(f"{what} has no {SUMS_FILENAME}", remedy=_REMEDY)
    sums, data = parse_sums(read(assets[SUMS_FILENAME])), read(assets[RELEASE_FILENAME])
    with tempfile.TemporaryDirectory(prefix="index-") as scratch:
        (Path(scratch) / RELEASE_FILENAME).write_bytes(data)
        entries = read_entries(Path(scratch))
    documents = {name: read(asset) for name, asset in assets.items() if name.endswith(VARIANTS_SUFFIX)}
    documents[RELEASE_FILENAME] = data
    described = {name: entry.sha256 for name, entry in entries.items()}
    described |= {name: hashlib.sha256(document).hexdigest() for name, document in documents.items()}
    if different := sorted(name for name, digest in described.items() if sums.get(name) != digest):
        raise PublishError(
            f"{what} is not what its {SUMS_FILENAME} lists",
            cause=f"differing: {shorten(different, _SHOWN)}",
            remedy=_REMEDY,
        )
    return entries


def index_release(
    what: str, entries: Mapping[str, Entry], assets: Assets, url: str, reasons: Mapping[str, str], read: Read
) -> IndexedRelease:
    """Return what the index says of a release.

    Args:
        what: The release, for messages.
        entries: Its wheels.
        assets: Its files by name.
        url: Address that these are downloaded from.
        reasons: Wheel → why it was withdrawn.
        read: Returns the bytes of a small asset.

    Raises:
        PublishError: A wheel is not there, or is another one.
    """
    files = [_index_wheel(what, entry, assets, url, reasons.get(name), read) for name, entry in entries.items()]
    files += [
        IndexedFile(name, hashlib.sha256(read(asset)).hexdigest(), asset.size, url=join_url(url, name))
        for name, asset in assets.items()
        if name.endswith(VARIANTS_SUFFIX)
    ]
    return IndexedRelease(tuple(entries.values()), tuple(files))


def _index_wheel(what: str, entry: Entry, assets: Assets, url: str, yanked: str | None, read: Read) -> IndexedFile:
    """Return what the index says of a wheel.

    Raises:
        PublishError: It is not there, or is another one, by its digest or, if GitHub states none, by its size.
    """
    name = entry.filename
    if cause := _find_difference(entry, assets.get(name)):
        raise PublishError(
            f"{what} has {'another' if name in assets else 'no'} {name}",
            cause=f"its {RELEASE_FILENAME} lists it with {cause}",
            remedy=_REMEDY,
        )
    found = assets.get(f"{name}{METADATA_SUFFIX}")
    metadata = read(found) if found else b""
    return IndexedFile(
        name,
        entry.sha256,
        entry.size,
        read_requires_python(metadata),
        metadata,
        join_url(url, name),
        yanked,
        provenance=f"{name}{PROVENANCE_SUFFIX}" in assets,
    )


def _find_difference(entry: Entry, asset: GitReleaseAsset | None) -> str:
    """Return what is said of a wheel and is not true of its asset; empty if there is nothing."""
    stated = digest_of(asset) if asset else ""
    if asset is None or stated:
        return f"sha256 {entry.sha256}" if stated != entry.sha256 else ""
    return f"{entry.size} bytes, GitHub has {asset.size}" if asset.size != entry.size else ""
