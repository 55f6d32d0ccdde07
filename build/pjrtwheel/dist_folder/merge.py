# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Merge what several machines made: folders of finished wheels, and proofs of the wheels of a folder."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pjrtwheel.dist_folder.folder import put_wheels
from pjrtwheel.errors import ProofError, WheelError, fit
from pjrtwheel.files import hash_file, locked, write_atomically
from pjrtwheel.prove.proof_file import ProofFile, ProvenWheel, read_proof_file
from pjrtwheel.record.entries import (
    RELEASE_FILENAME,
    Entry,
    add_proofs_to,
    format_entries,
    read_entries,
    require_record,
)
from pjrtwheel.wheel.names import is_variant


def read_folder(folder: Path) -> dict[str, Entry]:
    """Return the entries of all wheels in a folder, by file name.

    Raises:
        UsageError: There is no such folder, or no `release.json` in it.
        WheelError: It lists other wheels than are there.
    """
    path = require_record(folder)
    entries = read_entries(folder)
    present = {wheel.name for wheel in folder.glob("*.whl")}
    if not entries or present != set(entries):
        raise WheelError(
            f"{path} does not describe the wheels of its folder",
            cause=f"only in one of the two: {fit(sorted(present ^ set(entries))) or 'nothing; both are empty'}",
            remedy="give a folder as a build left it",
        )
    return entries


def merge_folders(folders: Sequence[Path], dist: Path) -> tuple[Entry, ...]:
    """Copy the wheels of several folders into one, keep the strongest proofs of each, and return all entries there.

    Wheel variants, the plain wheel of the same project and their list are made for all that is in one folder. They are
    left out, to be made anew, which is said on stderr.

    Raises:
        UsageError: There is no such folder, or no `release.json` in it.
        WheelError: A `release.json` does not fit its wheels, two folders have different wheels of one name, or wheels
            of one version and different sets.
    """
    records = {folder: _leave_out_variants(read_folder(folder), folder, dist) for folder in folders}
    _check_same(records, dist)
    wheels = {name: folder / name for folder, entries in records.items() for name in entries}
    merged = [entry for entries in records.values() for entry in entries.values()]
    return put_wheels(wheels, merged, dist, refuse_mixed=True)


def _leave_out_variants(entries: Mapping[str, Entry], folder: Path, dist: Path) -> dict[str, Entry]:
    """Return the entries without projects that have variants, and name these."""
    projects = {(entry.distribution, entry.version) for name, entry in entries.items() if is_variant(name)}
    for distribution, version in sorted(projects):
        print(
            f"{distribution} {version} of {folder} is left out, for it was made for that folder alone; "
            f"make it anew: ./noxw auto --dist {dist}",
            file=sys.stderr,
            flush=True,
        )
    return {name: entry for name, entry in entries.items() if (entry.distribution, entry.version) not in projects}


def _check_same(records: Mapping[Path, Mapping[str, Entry]], dist: Path) -> None:
    """Refuse wheels of one name that differ, also from those that are in `dist` already."""
    names = {name for entries in records.values() for name in entries}
    seen = {name: (dist, hash_file(dist / name)) for name in names if (dist / name).is_file()}
    for folder, entries in records.items():
        for name, entry in entries.items():
            first, digest = seen.setdefault(name, (folder, entry.sha256))
            if digest != entry.sha256:
                raise WheelError(
                    f"{name} differs between {first} and {folder}",
                    cause="they were built from different sources",
                    remedy="build both again from one revision",
                )


def add_proof_files(paths: Sequence[Path], dist: Path, now: datetime) -> tuple[Entry, ...]:
    """Record the proofs of some files, and return the entries of their wheels as they are now.

    Raises:
        UsageError: There is no such file, or no `release.json` in the folder.
        ProofError: A file is refused, or is about other wheels than those of the folder.
        WheelError: `release.json` is damaged.
    """
    require_record(dist)
    received = {path: _signed(read_proof_file(path, now)) for path in paths}
    with locked(dist):
        entries = read_entries(dist)
        for path, proven in received.items():
            _check_proven(path, proven, entries, dist)
        changed: dict[str, Entry] = {}
        for wheel in (wheel for proven in received.values() for wheel in proven):
            changed[wheel.wheel] = add_proofs_to(changed.get(wheel.wheel, entries[wheel.wheel]), [wheel.proof])
        write_atomically(dist / RELEASE_FILENAME, format_entries(entries | changed))
    return tuple(changed[name] for name in sorted(changed))


def _signed(file: ProofFile) -> tuple[ProvenWheel, ...]:
    """Return the wheels of a file, with its signer in each proof, whatever the proofs themselves say of that."""
    return tuple(
        replace(wheel, proof=replace(wheel.proof, origin=replace(wheel.proof.origin, signed_off_by=file.signed_off_by)))
        for wheel in file.wheels
    )


def _check_proven(path: Path, proven: Sequence[ProvenWheel], entries: Mapping[str, Entry], dist: Path) -> None:
    """Refuse proofs of wheels that are not there, or of other bytes."""
    for wheel in proven:
        known = entries.get(wheel.wheel)
        if known is None or known.sha256 != wheel.sha256:
            there = (
                f"{RELEASE_FILENAME} says {known.sha256[:12]}" if known else f"{RELEASE_FILENAME} lists no such wheel"
            )
            raise ProofError(
                f"the proofs in {str(path)!r} are not of the wheels in {dist}; nothing was changed",
                cause=f"they are of {wheel.wheel} with sha256 {wheel.sha256[:12]}, {there}",
                remedy="prove the wheels of this folder: ./noxw smoke_BACKEND --dist FOLDER --proofs FILE",
            )
