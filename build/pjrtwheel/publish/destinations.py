# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `releases/destinations.toml`: where releases can be published, and what each place takes.

Addresses and credentials are not in it; they are the environment's and the command line's.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.tables import TableError, column, read_toml
from pjrtwheel.wheel.names import is_variant

DESTINATIONS_FILE = "releases/destinations.toml"


class Kind(StrEnum):
    """How a destination is written to."""

    UPLOAD_API = "upload-api"
    GITHUB = "github-release"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Destination:
    """One place.

    Attributes:
        kind: How it is written to.
        name: What the command line calls it.
        summary: What it is, in one line.
        stage: Whether it is for tests before a release is promoted to another place.
        file_limit: The most bytes that a file may have; 0 for no limit.
        file_count: The most files that a release may have; 0 for no limit.
        labels: Whether versions may have a local label (PEP 440), which the public index refuses.
        variants: Whether it takes wheel variants (PEP 825).
        documents: Whether it takes files that are no wheels, such as `SHA256SUMS`.
        attestations: Whether an upload may carry the attestation that lies next to a wheel (PEP 740).
        opt_in: Whether only the projects in `names` may go there.
        names: The projects that are ours there; with `opt_in`, no others are sent.
    """

    kind: Kind
    name: str = column(pattern=r"[a-z][a-z0-9-]*")
    summary: str = column(pattern=r"(?s).+")
    stage: bool = False
    file_limit: int = column(minimum=0, default=0)
    file_count: int = column(minimum=0, default=0)
    labels: bool = True
    variants: bool = False
    documents: bool = True
    attestations: bool = False
    opt_in: bool = False
    names: tuple[str, ...] = ()

    @property
    def is_shared(self) -> bool:
        """Whether a release lies there among others; a GitHub Release, or a folder of a tag, holds nothing else."""
        return self.kind is Kind.UPLOAD_API

    @property
    def files_per_wheel(self) -> int:
        """How many files there are of each wheel: its METADATA is an asset next to it in a GitHub Release (PEP 658)."""
        return 2 if self.kind is Kind.GITHUB else 1

    def takes(self, filename: str) -> bool:
        """Return whether a file of a release is published here; installers do without those that are not."""
        if not filename.endswith(".whl"):
            return self.documents
        return self.variants or not is_variant(filename)


@dataclass(frozen=True, slots=True)
class _Destinations:
    destination: tuple[Destination, ...]


def load_destinations(root: Path) -> dict[str, Destination]:
    """Return all destinations by name.

    Raises:
        PinError: The file is missing or malformed, or has a name twice.
    """
    path = root / DESTINATIONS_FILE
    try:
        listed = read_toml(_Destinations, path.read_text("utf-8")).destination
    except FileNotFoundError as error:
        raise PinError(f"there is no {DESTINATIONS_FILE} in {root}", remedy="get it back from git") from error
    except UnicodeDecodeError as error:
        raise PinError(f"malformed file: {DESTINATIONS_FILE}", cause="it is not UTF-8") from error
    except TableError as error:
        raise PinError(f"malformed file: {DESTINATIONS_FILE}", cause=str(error)) from error
    found = {entry.name: entry for entry in listed}
    if len(found) < len(listed):
        raise PinError(f"malformed file: {DESTINATIONS_FILE}", cause="a name occurs twice")
    return found


def find_destination(root: Path, name: str) -> Destination:
    """Return a destination by its name.

    Raises:
        UsageError: There is none of that name; the message lists those there are.
    """
    known = load_destinations(root)
    if name not in known:
        raise UsageError(f"unknown destination: {name!r}", remedy=f"known: {', '.join(known)} ({DESTINATIONS_FILE})")
    return known[name]
