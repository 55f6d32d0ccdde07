# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Entries of `release.json` for wheels that need not exist, proofs of them, and folders of wheels that do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pjrtwheel import tables
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, format_entries
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, Proof, PythonProof
from pjrtwheel.wheel.names import parse_name
from small_wheels import build_wheel, describe_wheel

NO_PROOF = Proof(Level.STATIC, None, (), Origin(None, None, "0", ""))
_DATE = "2026-11-21T09:40:00Z"


def entry_of(filename: str, /, **changes: Any) -> Entry:
    """Return the entry of a wheel, as its name says and what is given; nothing was proven."""
    name = parse_name(filename)
    tags = tuple(sorted(map(str, name.tags)))
    named: dict[str, Any] = {"distribution": name.distribution, "version": name.version, "tags": tags}
    return replace(Entry(filename, "0" * 64, 1, "", **named, proof=NO_PROOF, other_proofs=()), **changes)


def entry_at(path: Path, **changes: Any) -> Entry:
    """Return the entry of a wheel that is there, with its digest and size."""
    return entry_of(path.name, sha256=hash_file(path), size=path.stat().st_size, **changes)


def write_small_wheel(
    path: Path, requires: Sequence[str] = (), *, python: str = ">=3.12", gpu_code: Sequence[str] = ()
) -> dict[str, Any]:
    """Write a wheel with nothing but metadata, and return its entry as `release.json` has it."""
    build_wheel(path.parent, describe_wheel(path.name, requires, python=python), name=path.name)
    return dict(tables.write(entry_at(path, lock_id="ff", gpu_code=tuple(gpu_code))))


def link_wheels(source: Path, entries: Mapping[str, Entry], target: Path) -> Path:
    """Make a folder of links to wheels of another one, with a record of those alone."""
    target.mkdir(parents=True, exist_ok=True)
    for name in entries:
        (target / name).symlink_to((source / name).resolve())
    (target / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    return target


def origin_of(commit: str | None, *, date: str = _DATE, dirty: bool = False) -> Origin:
    """Return the origin of a build or a proof at a commit."""
    return Origin(commit, dirty, "0", date)


def proof_of(level: Level, commit: str | None, *, date: str = _DATE, dirty: bool = False) -> Proof:
    """Return a proof of one program that passed."""
    results = (ProgramResult("jit", Outcome.PASSED, level, 1.0, ""),) if level is not Level.STATIC else ()
    pythons = (PythonProof("cp312", "3.12.1", results, "" if results else "no interpreter"),)
    return Proof(level, None, pythons, origin_of(commit, date=date, dirty=dirty))
