# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is being published where, kept in the cache until it is done: a run that goes on must mean the same release.

What was sent is not in it: the destination itself says that.
"""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.attest.release_folder import SUMS_FILENAME, ReleaseFolder
from pjrtwheel.errors import PublishError, WheelError
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.publish.place import Place
from pjrtwheel.wheel.names import parse_name


@dataclass(frozen=True, slots=True)
class Journal:
    """A plan that was begun.

    Attributes:
        destination: Name of the destination.
        address: Its address, without credentials.
        tag: Tag of the release.
        sums: Digest of its `SHA256SUMS`, and so of all its files.
        commits: Commits that its wheels were built from.
        files: Names of its wheels.
    """

    destination: str
    address: str
    tag: str
    sums: str
    commits: tuple[str, ...]
    files: tuple[str, ...]

    def path(self, cache: Path) -> Path:
        """Return where it is kept; the folder of the release holds nothing that is not published."""
        where = hashlib.sha256(self.address.encode()).hexdigest()[:16]
        return cache / "publish" / f"{self.destination}-{self.tag}-{where}.json"


def make_journal(release: ReleaseFolder, destination: str, address: str, tag: str) -> Journal:
    """Describe what is about to be published."""
    commits = {entry.built.commit for entry in release.entries} - {None}
    sums = hash_file(release.path / SUMS_FILENAME)
    return Journal(destination, address, tag, sums, tuple(sorted(map(str, commits))), tuple(sorted(release.wheels)))


@contextmanager
def hold(journal: Journal, cache: Path) -> Iterator[None]:
    """Keep other runs from publishing the same tag to the same place, on this machine.

    Raises:
        PublishError: One is at it.
    """
    path = journal.path(cache)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PublishError(
                f"{journal.tag} is being published to {journal.destination} by another run",
                remedy="wait until it has ended",
            ) from None
        yield


def check_begun(journal: Journal, cache: Path, place: Place) -> None:
    """Make sure that no wheel is there of another release, that was begun under this tag and not finished.

    Raises:
        PublishError: There is one, or the journal is damaged, or the destination cannot be read.
    """
    path = journal.path(cache)
    if not path.is_file():
        return
    try:
        begun = tables.read_json(Journal, path.read_bytes())
        projects = {parse_name(name).distribution for name in begun.files}
    except (tables.TableError, WheelError) as error:
        raise PublishError(f"{path} is damaged", cause=str(error), remedy="remove it, and publish again") from error
    same = (begun.sums, begun.commits) == (journal.sums, journal.commits)
    if not same and not place.list_files(projects).keys().isdisjoint(begun.files):
        raise PublishError(
            f"{journal.tag} was begun at {journal.destination} as another release, and is not finished",
            cause=f"that one is {_describe(begun)}, this one {_describe(journal)}",
            remedy=f"publish the folder that was begun, or remove from {journal.destination} what is there of it",
        )


def begin(journal: Journal, cache: Path) -> None:
    """Note that files are about to be sent."""
    write_atomically(journal.path(cache), tables.write_json(journal))


def end(journal: Journal, cache: Path) -> None:
    """Note that all of it is there."""
    journal.path(cache).unlink(missing_ok=True)


def _describe(journal: Journal) -> str:
    commits = ", ".join(commit[:12] for commit in journal.commits) or "no commit"
    return f"of {commits} with SHA256SUMS {journal.sums[:12]}"
