# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Put wheels into a folder, and keep its `release.json` true.

Each file is put there whole or not at all, the wheels one after the other and `release.json` last. A run that is killed
between two renames leaves whole wheels that `release.json` does not list yet; the next run names them.
"""

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pjrtwheel import files
from pjrtwheel.backend import Backend
from pjrtwheel.errors import WheelError
from pjrtwheel.files import READABLE, hash_file, link_or_copy, write_atomically
from pjrtwheel.record.entries import (
    RELEASE_FILENAME,
    Entry,
    add_proofs_to,
    check_sets,
    format_entries,
    make_entry,
    merge_entries,
    read_entries,
)
from pjrtwheel.record.origin import Origin, find_origin
from pjrtwheel.record.proofs import Level, Proof
from pjrtwheel.verify import verify_wheels
from pjrtwheel.wheel.report import BuiltWheel


def add_wheels(
    built: Sequence[BuiltWheel], proofs: Iterable[Mapping[str, Proof]], origin: Origin, dist: Path
) -> tuple[Entry, ...]:
    """Put wheels into `dist`, record them in its `release.json`, and return the entries of all that are there now.

    Args:
        built: The wheels.
        proofs: For each backend that they were proven with: file name → what was proven.
        origin: From which state of the repository they were built.
        dist: The folder.

    Raises:
        WheelError: A wheel changed after it was reported, the disk is full, or `release.json` is damaged.
    """
    for wheel in built:
        wheel.path.chmod(READABLE)  # Bazel takes the right to write from its outputs, and would from their links
    reports = {wheel.report.filename: wheel.report for wheel in built}
    entries = [
        make_entry(reports[name], proof, origin) for found in proofs for name, proof in found.items() if name in reports
    ]
    return put_wheels({wheel.report.filename: wheel.path for wheel in built}, entries, dist)


def add_pure_python(built: Sequence[BuiltWheel], backends: Sequence[Backend], root: Path, dist: Path) -> None:
    """Publish wheels without a library, of which there is nothing to run.

    Raises:
        VerifyError: A wheel breaks a promise.
        WheelError: The disk is full.
    """
    verify_wheels({wheel.path: wheel.report for wheel in built}, backends)
    origin = find_origin(root, os.environ)
    unproven = Proof(Level.STATIC, None, (), origin)
    add_wheels(built, [{wheel.report.filename: unproven for wheel in built}], origin, dist)


def put_wheels(
    wheels: Mapping[str, Path], entries: Sequence[Entry], dist: Path, *, refuse_mixed: bool = False
) -> tuple[Entry, ...]:
    """Put wheels that have entries already into `dist`, as `add_wheels` does: as hard links where that is possible.

    Several builds may write into one folder, one after the other: under the folder's lock all wheels are put into one
    place, then renamed into theirs, and `release.json` is replaced last. Wheels that it does not describe, which a
    killed run may have left, are named on stderr.

    Raises:
        WheelError: A wheel is not the one its entry describes, or the disk is full; or the folder would have wheels of
            one version and different sets, which is to be refused.
    """
    with files.staging_folder(dist) as folder, files.locked(dist):
        digests = {path.name: hash_file(path) for path in dist.glob("*.whl")}
        if refuse_mixed:
            present = {*digests, *(entry.filename for entry in entries)}
            check_sets(merge_entries(read_entries(dist), entries, present).values(), str(dist))
        fresh = {entry.filename: entry for entry in entries if digests.get(entry.filename) != entry.sha256}
        for name, entry in fresh.items():
            _add(wheels[name], entry, folder)
        for name, entry in fresh.items():
            (folder / name).replace(dist / name)
            digests[name] = entry.sha256
        merged = merge_entries(read_entries(dist), entries, digests)
        write_atomically(dist / RELEASE_FILENAME, format_entries(merged))
    for warning in _describe_unlisted(merged, digests):
        print(f"warning: {warning}", file=sys.stderr, flush=True)
    return tuple(merged.values())


def add_proofs(proofs: Mapping[str, Proof], digests: Mapping[str, str], dist: Path) -> tuple[str, ...]:
    """Record proofs of wheels that are in `dist` already.

    Each proof comes with the sha256 of the bytes that were proven, by file name.

    Returns:
        The wheels that its `release.json` does not describe, or as other bytes: nothing was recorded of these.
    """
    with files.locked(dist):
        entries = read_entries(dist)
        known = {name for name in proofs if name in entries and entries[name].sha256 == digests[name]}
        if known:
            changed = {name: add_proofs_to(entries[name], [proofs[name]]) for name in known}
            write_atomically(dist / RELEASE_FILENAME, format_entries(entries | changed))
    return tuple(sorted(proofs.keys() - known))


def withdraw(names: Collection[str], dist: Path) -> None:
    """Remove wheels from `dist`: from its `release.json` first, which stays true then if the run is killed in between.

    Names that are not there are passed over.
    """
    with files.locked(dist):
        kept = {name: entry for name, entry in read_entries(dist).items() if name not in names}
        write_atomically(dist / RELEASE_FILENAME, format_entries(kept))
        for name in names:
            (dist / name).unlink(missing_ok=True)


def _add(wheel: Path, entry: Entry, folder: Path) -> None:
    """Put a wheel into a folder, holding it to its entry."""
    link_or_copy(wheel, folder / entry.filename)
    digest = hash_file(folder / entry.filename)
    if digest != entry.sha256:
        raise WheelError(
            f"{wheel} has sha256 {digest}, its record says {entry.sha256}",
            cause="the file was damaged or replaced after it was built",
            remedy="copy it again, or build again",
        )


def _describe_unlisted(entries: Mapping[str, Entry], digests: Mapping[str, str]) -> tuple[str, ...]:
    """Return a line for each wheel of a folder that its `release.json` does not describe, given the digests by name."""
    return tuple(
        f"{name} has no entry in {RELEASE_FILENAME}: build it again, or remove it"
        if name not in entries
        else f"{name} is not the file that {RELEASE_FILENAME} describes: build it again, or remove it"
        for name, digest in sorted(digests.items())
        if name not in entries or entries[name].sha256 != digest
    )
