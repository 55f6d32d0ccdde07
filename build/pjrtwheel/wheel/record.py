# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The members of a wheel, and RECORD, the list of them with their digests (PEP 376, PEP 427)."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

# Signatures may be added later, so they and RECORD itself carry no digest (PEP 427).
_UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a wheel, whoever wrote or read it; its path is the key under which it is kept.

    Attributes:
        size: Length in bytes.
        sha256: Hexadecimal digest.
    """

    size: int
    sha256: str


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


def encode_digest(sha256: str) -> str:
    """Return a hexadecimal digest in RECORD's form.

    >>> encode_digest("00" * 32)
    'sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return "sha256=" + base64.urlsafe_b64encode(bytes.fromhex(sha256)).rstrip(b"=").decode()


def format_record(members: Mapping[str, Member], record_path: str) -> str:
    """Return the text of RECORD, which lists itself last and without a digest."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows((path, encode_digest(member.sha256), member.size) for path, member in members.items())
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
    for row in filter(None, rows):
        if len(row) != 3:
            raise ValueError(f"RECORD has a row of {len(row)} fields: {row!r}")
        path, digest, size = row
        if path in entries:
            raise ValueError(f"RECORD names {path!r} twice")
        entries[path] = RecordEntry(digest, int(size) if size else None)
    return entries
