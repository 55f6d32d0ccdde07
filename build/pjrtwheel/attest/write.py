# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write the folder of a release, whole or not at all: links to its wheels, and the documents about them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pjrtwheel.attest.checksums import SUMS_FILENAME, format_sums
from pjrtwheel.attest.release_folder import ReleaseFolder, read_release_folder
from pjrtwheel.attest.release_set import ReleaseSet
from pjrtwheel.errors import AttestError, PjrtWheelError, UsageError
from pjrtwheel.files import hash_file, link_or_copy, locked, staging_folder, write_atomically
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries


def write_release_folder(found: ReleaseSet, dist: Path, output: Path, documents: Mapping[str, bytes]) -> ReleaseFolder:
    """Write a release, and return it as it is read back; one that is there with the same bytes stays.

    Args:
        found: The wheels, and what goes with them.
        dist: Where these are.
        output: The folder to write; a release of the same name there is replaced.
        documents: Further documents by name; `release.json` and `SHA256SUMS` are made here.

    Raises:
        UsageError: Something else is in the way.
        AttestError: A wheel is missing, or not the one that `release.json` describes.
        WheelError: The disk is full.
    """
    _check_place(output)
    texts = {RELEASE_FILENAME: release_document(found), **documents}
    with staging_folder(output.parent) as staging:
        folder = staging / output.name
        folder.mkdir(mode=0o755)
        with locked(dist):  # or a build could replace a wheel between its check and its link
            digests = _link_files(found, dist, folder)
        digests |= {name: hashlib.sha256(data).hexdigest() for name, data in texts.items()}
        for name, data in texts.items():
            write_atomically(folder / name, data.decode())
        write_atomically(folder / SUMS_FILENAME, format_sums(digests))
        if not _is_there(output, folder):
            if output.exists():
                output.rename(staging / "old")
            folder.rename(output)
    return read_release_folder(output)


def release_document(found: ReleaseSet) -> bytes:
    """Return the `release.json` of a release, which lists its wheels alone."""
    return format_entries({entry.filename: entry for entry in found.entries}).encode()


def _check_place(output: Path) -> None:
    if output.is_dir() and ((output / SUMS_FILENAME).is_file() or not any(output.iterdir())):
        return
    if output.exists() or output.is_symlink():
        raise UsageError(f"{output} is in the way: it is no release", remedy="give a new folder with --output")


def _link_files(found: ReleaseSet, dist: Path, folder: Path) -> dict[str, str]:
    """Put the files of a release into a folder, without their bytes where possible, and return their digests."""
    expected = {entry.filename: entry.sha256 for entry in found.entries}
    digests = {}
    for name in (*expected, *found.others):
        source = (dist / name).resolve()  # of a link to a wheel, the wheel
        if not source.is_file():
            raise AttestError(
                f"{dist / name} is not there, though {RELEASE_FILENAME} lists it", remedy="build it again"
            )
        link_or_copy(source, folder / name)
        digests[name] = hash_file(folder / name)
        if digests[name] != expected.get(name, digests[name]):
            raise AttestError(
                f"{dist / name} is not the file that {RELEASE_FILENAME} describes",
                cause="it was damaged or replaced after it was built",
                remedy="build it again",
            )
    return digests


def _is_there(output: Path, folder: Path) -> bool:
    """Return whether a release was written before, with the same bytes."""
    sums = output / SUMS_FILENAME
    if not sums.is_file() or sums.read_bytes() != (folder / SUMS_FILENAME).read_bytes():
        return False
    try:
        read_release_folder(output)
    except PjrtWheelError:
        return False
    return True
