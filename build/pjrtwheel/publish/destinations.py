# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Where releases can be published, and what each place takes (`releases/destinations.toml`), whatever its kind.

Addresses and credentials are not in it; they are the environment's and the command line's. What is published of a
release is held to the limits of its destination before anything is sent there.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from packaging.utils import canonicalize_name

from pjrtwheel.errors import PinError, UsageError, shorten
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.record.entries import Entry
from pjrtwheel.tables import column, load_toml
from pjrtwheel.wheel.names import is_variant

DESTINATIONS_FILE = "releases/destinations.toml"
_SHOWN = 2


class DestinationKind(StrEnum):
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
        file_limit: The most bytes that a file may have; 0 for no limit.
        file_count: The most files that a release may have; 0 for no limit.
        labels: Whether versions may have a local label (PEP 440), which the public index refuses.
        variants: Whether it takes wheel variants (PEP 825).
        documents: Whether it takes files that are no wheels, such as `SHA256SUMS`.
        attestations: Whether an upload may carry the attestation that lies next to a wheel (PEP 740).
        opt_in: Whether only the projects in `names` may go there.
        names: The projects that are ours there; with `opt_in`, no others are sent.
    """

    kind: DestinationKind
    name: str = column(pattern=r"[a-z][a-z0-9-]*")
    summary: str = column(pattern=r"(?s).+")
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
        return self.kind is DestinationKind.UPLOAD_API

    @property
    def has_metadata(self) -> bool:
        """Whether the METADATA of each wheel is put next to it (PEP 658), which an index does by itself."""
        return not self.is_shared

    @property
    def keeps_digests(self) -> bool:
        """Whether the digest that it states is that of the bytes it serves, so that no file is downloaded again.

        GitHub never changes an asset; an index may serve a file from caches that have something else.
        """
        return self.kind is DestinationKind.GITHUB

    def takes(self, filename: str) -> bool:
        """Return whether a file of a release is published here; installers do without those that are not."""
        if not filename.endswith(".whl"):
            return self.documents
        return self.variants or not is_variant(filename)


class Place(Protocol):
    """One release at a destination, as far as it is there."""

    @property
    def address(self) -> str:
        """The destination's address without credentials, for messages."""

    def list_files(self, projects: Collection[str]) -> Mapping[str, IndexFile]:
        """Return what is there by file name: of an index the files of some projects (normalized names).

        A place that the release has for itself ignores them, and returns all that is in it.
        """

    def check_uploads(self, commit: str, *, credentials: bool) -> None:
        """Make sure that all is known that uploads need; nothing is sent for that.

        Args:
            commit: The one that the wheels were built from, which a place with tags must have under the release's.
            credentials: Whether these are needed as well; a dry run does without them.

        Raises:
            UsageError: An address is missing.
            PublishError: A configuration that is there cannot be used, or the tag is at another commit.
        """

    def begin(self, commit: str) -> None:
        """Make what files are sent to, where a release is a thing of its own, before the first of them is sent."""

    def upload(self, file: Path, sha256: str) -> None:
        """Send one file, whole or not at all; a file of the same name and bytes that is there is no error."""

    def download(self, file: IndexFile, target: Path) -> None:
        """Fetch one file back; the caller compares its hash."""

    def finish(self) -> None:
        """Make all that was uploaded visible, where the destination has a step of its own for that (drafts, pages)."""

    def write_index(self) -> None:
        """Write the static index of all releases anew; an index with an upload API has its own."""


@dataclass(frozen=True, slots=True)
class _Destinations:
    destination: tuple[Destination, ...]


def load_destinations(root: Path) -> dict[str, Destination]:
    """Return all destinations by name.

    Raises:
        PinError: The file is missing or malformed, or has a name twice.
    """
    listed = load_toml(_Destinations, root / DESTINATIONS_FILE).destination
    found = {entry.name: entry for entry in listed}
    if len(found) < len(listed):
        raise PinError(f"{DESTINATIONS_FILE} cannot be read", cause="a name occurs twice")
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


def check_limits(destination: Destination, entries: Iterable[Entry], documents: Collection[str] = ()) -> Iterator[str]:
    """Yield, as a sentence each, why a destination would refuse a release: its wheels, and the names of its documents.

    What is not published there does not count.
    """
    listed = sorted((entry for entry in entries if destination.takes(entry.filename)), key=lambda entry: entry.filename)
    place, ours = destination.name, set(map(canonicalize_name, destination.names))
    for project in dict.fromkeys(canonicalize_name(entry.distribution) for entry in listed):
        if destination.opt_in and project not in ours:
            yield f"{project} is not ours at {place}: it is not in its names in {DESTINATIONS_FILE}"
    for entry in listed if destination.file_limit else ():
        if entry.size > destination.file_limit:
            yield f"{entry.filename} has {entry.size} bytes, {place} takes files of at most {destination.file_limit}"
    labelled = [entry.filename for entry in listed if "+" in entry.version]
    if labelled and not destination.labels:
        yield f"{place} takes no local version label: {shorten(labelled, _SHOWN)}"
    number = len(listed) * (1 + destination.has_metadata) + sum(map(destination.takes, documents))
    if destination.file_count and number > destination.file_count:
        yield f"{place} takes {destination.file_count} files of one release, this one has {number}"


def variable_of(destination: str, setting: str) -> str:
    """Return the environment variable of a setting.

    >>> variable_of("stage", "index-url")
    'PJRTWHEEL_STAGE_INDEX_URL'
    """
    return f"PJRTWHEEL_{destination}_{setting}".upper().replace("-", "_")
