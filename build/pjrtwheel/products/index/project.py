# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a package index says about its projects."""

from __future__ import annotations

from dataclasses import dataclass

from pjrtwheel.publish.release_file import Entry


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One file that an index offers.

    Attributes:
        name: Its name.
        sha256: Hexadecimal digest of its bytes.
        size: Its length.
        requires_python: Which Pythons it is for; empty when it does not say, or is no wheel.
        metadata: METADATA of a wheel, which installers can read without the wheel (PEP 658); empty for other files.
    """

    name: str
    sha256: str
    size: int
    requires_python: str = ""
    metadata: bytes = b""


@dataclass(frozen=True, slots=True)
class Project:
    """One project of an index.

    Attributes:
        name: Its normalized name.
        versions: Its versions, oldest first.
        files: Its wheels, and the index of their variants.
        entries: What `release.json` says about the wheels.
    """

    name: str
    versions: tuple[str, ...]
    files: tuple[IndexedFile, ...]
    entries: tuple[Entry, ...]
