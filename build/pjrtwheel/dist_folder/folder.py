# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Put wheels into a folder, merge what several machines made into one, and keep its `release.json` true.

Each file is put there whole or not at all, the wheels one after the other and `release.json` last. A run that is killed
between two renames leaves whole wheels that `release.json` does not list yet; `index` names them.
"""

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pjrtwheel import files
from pjrtwheel.backend import Backend
from pjrtwheel.errors import ProofError, WheelError, fit
from pjrtwheel.files import READABLE, hash_file, link_or_copy, locked, write_atomically
from pjrtwheel.prove.proof_file import ProvenWheel, read_proof_file
from pjrtwheel.record.entries import (
    RELEASE_FILENAME,
    Entry,
    add_proofs_to,
    check_sets,
    format_entries,
    make_entry,
    merge_entries,
    read_entries,
    require_record,
)
from pjrtwheel.record.origin import Origin, find_origin
from pjrtwheel.record.proofs import Level, Proof
from pjrtwheel.verify import verify_wheels
from pjrtwheel.wheel.names import is_variant
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
    verify_wheels([wheel.path for wheel in built], backends)
    origin = find_origin(root, os.environ)
    unproven = Proof(Level.STATIC, None, (), origin)
    add_wheels(built, [{wheel.report.filename: unproven for wheel in built}], origin, dist)


def put_wheels(
    wheels: Mapping[str, Path], entries: Sequence[Entry], dist: Path, *, refuse_mixed: bool = False
) -> tuple[Entry, ...]:
    """Put wheels that have entries already into `dist`, as `add_wheels` does: as hard links where that is possible.

    Several builds may write into one folder, one after the other: under the folder's lock all wheels are put into one
    place, then renamed into theirs, and `release.json` is replaced last. An index names wheels that it does not
    describe, which a killed run may have left.

    Raises:
        WheelError: A wheel is not the one its entry describes, or the disk is full; the folder has a wheel of the same
            name and another lock; or it would have wheels of one version and different sets, which is to be refused.
    """
    with files.staging_folder(dist) as folder, files.locked(dist):
        check_locks({entry.filename: entry.lock_id for entry in entries}, dist)
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
    return tuple(merged.values())


def check_locks(locks: Mapping[str, str], dist: Path) -> None:
    """Raise a `WheelError` where a folder has a wheel of the same name and another lock: file name → id of its lock."""
    known = {name: entry.lock_id for name, entry in read_entries(dist).items() if (dist / name).exists()}
    if others := [name for name, lock_id in known.items() if locks.get(name, lock_id) != lock_id]:
        remedy = "remove them, or name another --dist; a set of your own needs a label (docs/vendor/tutorial.md)"
        raise WheelError(f"{dist} has wheels of the same names and another set: {fit(others)}", remedy=remedy)


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
            f"make it again: ./noxw auto --dist {dist}",
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


def add_proof_files(paths: Sequence[Path], dist: Path) -> tuple[Entry, ...]:
    """Record the proofs of some files, and return the entries of their wheels as they are now.

    Raises:
        UsageError: There is no such file, or no `release.json` in the folder.
        ProofError: A file is refused, or is about other wheels than those of the folder.
        WheelError: `release.json` is damaged.
    """
    require_record(dist)
    received = {path: tuple(read_proof_file(path).signed()) for path in paths}
    with locked(dist):
        entries = read_entries(dist)
        for path, proven in received.items():
            _check_proven(path, proven, entries, dist)
        changed: dict[str, Entry] = {}
        for wheel in (wheel for proven in received.values() for wheel in proven):
            changed[wheel.wheel] = add_proofs_to(changed.get(wheel.wheel, entries[wheel.wheel]), [wheel.proof])
        write_atomically(dist / RELEASE_FILENAME, format_entries(entries | changed))
    return tuple(changed[name] for name in sorted(changed))


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
