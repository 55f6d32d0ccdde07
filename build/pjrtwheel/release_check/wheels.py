# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the wheels of a folder to what the release promises: all are there, with their bytes, of one set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pjrtwheel.record.entries import RELEASE_FILENAME, Entry
from pjrtwheel.release_check.problems import Kind, Problem
from pjrtwheel.sets.projects import AUTO, BUILD_SESSIONS
from pjrtwheel.wheel.names import find_name


@dataclass(frozen=True, slots=True)
class WheelFile:
    """A wheel as it lies in a folder.

    Attributes:
        sha256: Hexadecimal digest of its bytes.
        size: Their number.
        fault: What is wrong inside it, such as METADATA of another project; empty if nothing is.
    """

    sha256: str
    size: int
    fault: str = ""


def check_presence(
    promised: Collection[str], entries: Mapping[str, Entry], present: Mapping[str, WheelFile]
) -> Iterator[Problem]:
    """Yield each promised wheel that is not there, or not listed, and under which name its bytes are."""
    by_digest = {file.sha256: name for name, file in present.items() if name not in entries}
    for name in sorted(promised):
        other = by_digest.get(entries[name].sha256) if name in entries else None
        if name not in present and other:
            yield Problem(Kind.ALTERED, f"{name} was renamed to {other}")
        elif name not in present:
            yield missing(name)
        elif name not in entries:
            yield Problem(Kind.MISSING, f"{name} is there, but {RELEASE_FILENAME} does not describe it")


def missing(name: str) -> Problem:
    """Return the problem of a file that is not there: a wheel, or the list of the variants of `jaxlib-auto`."""
    wheel = find_name(name)
    session = BUILD_SESSIONS.get(wheel.distribution if wheel else AUTO)
    return Problem(Kind.MISSING, f"{name} is not there", f"build it: ./noxw {session}" if session else "")


def altered_list(name: str) -> Problem:
    """Return the problem of a list of variants that says something else than the wheels that it is for."""
    text = f"{name} is not the list that follows from the wheels, which says what installers take on which machine"
    return Problem(Kind.ALTERED, text, f"make it again: ./noxw {BUILD_SESSIONS[AUTO]}")


def check_unlisted(
    promised: Collection[str], entries: Mapping[str, Entry], present: Collection[str], version: str
) -> Iterator[Problem]:
    """Yield each wheel that nobody promised: of the version of the set, or not in `release.json` at all."""
    for name in sorted({*entries, *present} - set(promised)):
        parts = find_name(name)
        if name not in entries:
            yield Problem(Kind.UNLISTED, f"{name} is not described by {RELEASE_FILENAME}")
        elif parts is None or version in {parts.version, entries[name].version}:
            yield Problem(Kind.UNLISTED, f"{name} is not promised by the release")


def check_bytes(entries: Iterable[Entry], present: Mapping[str, WheelFile]) -> Iterator[Problem]:
    """Yield each wheel that is not the one its entry describes, and entries that do not fit the name of the file."""
    for entry in entries:
        name, parts, file = entry.filename, find_name(entry.filename), present.get(entry.filename)
        described = parts and (parts.distribution, parts.version, tuple(sorted(map(str, parts.tags))))
        if described != (entry.distribution, entry.version, tuple(sorted(entry.tags))):
            yield Problem(Kind.ALTERED, f"{RELEASE_FILENAME} describes {name} as another wheel than its name says")
        if file is not None and file.sha256 != entry.sha256:
            yield Problem(
                Kind.ALTERED, f"{name} has sha256 {file.sha256[:12]}, {RELEASE_FILENAME} says {entry.sha256[:12]}"
            )
        elif file is not None and file.size != entry.size:
            yield Problem(Kind.ALTERED, f"{name} has {file.size} bytes, {RELEASE_FILENAME} says {entry.size}")
        if file is not None and file.fault:
            yield Problem(Kind.ALTERED, file.fault)


def check_locks(entries: Iterable[Entry], expected: Collection[str]) -> Iterator[Problem]:
    """Yield each lock of a set that is not the only one, or not one that follows from the release file."""
    by_lock: dict[str, list[str]] = {}
    for entry in entries:
        by_lock.setdefault(entry.lock_id, []).append(entry.filename)
    fitting = [lock for lock in by_lock if lock in expected]
    for lock, names in sorted(by_lock.items()):
        shown = f"{names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}"
        if lock not in expected:
            yield Problem(Kind.LOCK, f"{shown}: lock {lock[:8] or 'none'} does not follow from the release file")
        elif len(fitting) > 1:
            yield Problem(Kind.LOCK, f"{shown}: lock {lock[:8]} is one of {len(fitting)} in this set")
