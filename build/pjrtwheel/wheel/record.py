# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""RECORD, the list of a wheel's members with their digests (PEP 376, PEP 427)."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pjrtwheel.wheel.write.member import Written

# Signatures may be added later, so they and RECORD itself carry no digest (PEP 427).
_UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")


@dataclass(frozen=True, slots=True)
class RecordEntry:
    """What RECORD says about one member.

    Attributes:
        digest: Such as `sha256=...`; empty for RECORD itself.
        size: Length in bytes; None when not stated.
    """

    digest: str
    size: int | None


def unhashed_paths(dist_info: str) -> frozenset[str]:
    """Return the paths of RECORD and its signatures; a file of that name elsewhere is a member like any other.

    >>> sorted(unhashed_paths("a-1.dist-info"))[0]
    'a-1.dist-info/RECORD'
    """
    return frozenset(f"{dist_info}/{name}" for name in _UNHASHED)


def encode_digest(sha256: bytes) -> str:
    """Return a digest in RECORD's form.

    >>> encode_digest(bytes(32))
    'sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return "sha256=" + base64.urlsafe_b64encode(sha256).rstrip(b"=").decode()


def format_record(members: Iterable[Written], record_path: str) -> str:
    """Return the text of RECORD, which lists itself last and without a digest."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows((member.path, encode_digest(member.sha256), member.size) for member in members)
    writer.writerow((record_path, "", ""))
    return text.getvalue()


def parse_record(text: str) -> Mapping[str, RecordEntry]:
    """Read RECORD.

    Raises:
        ValueError: The text is not CSV, or a row has not three fields, states no number as size, or names a member
            twice.
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise ValueError(f"RECORD is not CSV: {error}") from error
    entries: dict[str, RecordEntry] = {}
    for row in rows:
        if not row:
            continue
        if len(row) != 3:
            raise ValueError(f"RECORD has a row of {len(row)} fields: {row!r}")
        path, digest, size = row
        if path in entries:
            raise ValueError(f"RECORD names {path!r} twice")
        entries[path] = RecordEntry(digest, int(size) if size else None)
    return entries
