# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Take proofs that were made on other machines into the `release.json` of a folder: all of them, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pjrtwheel.errors import ProofError
from pjrtwheel.files import locked, write_atomically
from pjrtwheel.prove.proof_file import ProofFile, ProvenWheel, read_proof_file
from pjrtwheel.record.entries import (
    RELEASE_FILENAME,
    Entry,
    add_proofs_to,
    format_entries,
    read_entries,
    require_record,
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
            _check_bytes(path, proven, entries, dist)
        changed: dict[str, Entry] = {}
        for wheel in (wheel for proven in received.values() for wheel in proven):
            changed[wheel.wheel] = add_proofs_to(changed.get(wheel.wheel, entries[wheel.wheel]), [wheel.proof])
        write_atomically(dist / RELEASE_FILENAME, format_entries(entries | changed))
    return tuple(changed[name] for name in sorted(changed))


def _signed(file: ProofFile) -> tuple[ProvenWheel, ...]:
    """Return the wheels of a file, with its signer in each proof, whatever the proofs themselves say of that."""
    return tuple(
        replace(
            wheel,
            proof=replace(wheel.proof, origin=replace(wheel.proof.origin, signed_off_by=file.signed_off_by)),
        )
        for wheel in file.wheels
    )


def _check_bytes(path: Path, proven: Sequence[ProvenWheel], entries: Mapping[str, Entry], dist: Path) -> None:
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
