# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What publishing needs of a destination, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pjrtwheel.publish.destinations import Destination


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file that is at a destination.

    Attributes:
        name: File name.
        sha256: What the destination says of its bytes; empty if it says nothing.
        size: Length in bytes; -1 if it says nothing.
        url: Where it can be downloaded from.
        yanked: Why it was withdrawn (PEP 592); None if it was not. A yanked file without a reason has "".
    """

    name: str
    sha256: str
    size: int
    url: str
    yanked: str | None = None


class Place(Protocol):
    """One release at a destination, as far as it is there."""

    @property
    def address(self) -> str:
        """The destination's address without credentials, for messages."""

    def list_files(self, projects: Collection[str]) -> Mapping[str, PublishedFile]:
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

    def download(self, file: PublishedFile, target: Path) -> None:
        """Fetch one file back; the caller compares its hash."""

    def finish(self) -> None:
        """Make all that was uploaded visible, where the destination has a step of its own for that (drafts, pages)."""

    def yank(self, names: Collection[str], reason: str) -> str:
        """Withdraw files so that installers take them only when pinned (PEP 592); say what is left to do for that."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What has to be known of a place that is in no file: an address, a folder.

    `places.py` makes an option `--NAME` and an environment variable of each; credentials are never settings.

    Attributes:
        name: Such as `upload-url`.
        summary: What it is, for `--help`.
        reading: Whether it is needed where a release is only read from a place, as from a stage (`--from-NAME`).
        required: What it is called in the error if it is not given, such as `folder`; empty if it may be missing.
        default: A path in the repository that it is if it is not given; empty if there is none.
        variable: A variable of others that has it, such as `GITHUB_REPOSITORY`; empty if there is none.
    """

    name: str
    summary: str
    reading: bool = False
    required: str = ""
    default: str = ""
    variable: str = ""


@dataclass(frozen=True, slots=True)
class PlaceKind:
    """How places of one kind are opened.

    Attributes:
        settings: What can be set.
        open: Destination, settings by name (those that were given), tag of the release → the place. Raises a
            `UsageError` if a setting is malformed, and touches no network yet.
    """

    settings: tuple[Setting, ...]
    open: Callable[[Destination, Mapping[str, str], str], Place]


def variable_of(destination: str, setting: str) -> str:
    """Return the environment variable of a setting.

    >>> variable_of("stage", "index-url")
    'PJRTWHEEL_STAGE_INDEX_URL'
    """
    return f"PJRTWHEEL_{destination}_{setting}".upper().replace("-", "_")
