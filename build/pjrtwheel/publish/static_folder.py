# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A folder that any web server serves: the files of each release, and a static index whose links point there.

```text
FOLDER/.uploads/TAG/   what was sent so far, which no page links to; gone once all of it is published
FOLDER/files/TAG/      a whole release: wheels, their METADATA, documents
FOLDER/simple/         the index of all releases
FOLDER/yanked.toml     which wheels were withdrawn, and why
```

The files are the truth. Pages are only ever written from them, and compared with them when they are read: one that was
edited by hand is refused.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from pjrtwheel.errors import PublishError, UsageError, WheelError
from pjrtwheel.files import copy_atomically, hash_file, locked
from pjrtwheel.products.index import installer_pages, write_pages
from pjrtwheel.products.index.projects import IndexedRelease, Project, WheelFolder, list_projects, read_release
from pjrtwheel.products.index.release_pages import is_release_page
from pjrtwheel.publish.answers import explain_system
from pjrtwheel.publish.destinations import Destination
from pjrtwheel.publish.place import Place, PlaceKind, PublishedFile, Setting
from pjrtwheel.publish.yanked import YANKED_FILENAME, add_yanked, find_reasons, read_yanked
from pjrtwheel.record.entries import read_entries
from pjrtwheel.record.origin import find_date
from pjrtwheel.wheel.names import METADATA_SUFFIX
from pjrtwheel.wheel.read.unpack import read_metadata

FILES, INDEX, UPLOADS = "files", "simple", ".uploads"


@dataclass(slots=True)
class StaticFolder:
    """One release in such a folder.

    Attributes:
        folder: The folder.
        tag: Tag of the release.
        yanked_file: Which wheels were withdrawn.
    """

    folder: Path
    tag: str
    yanked_file: Path
    _digests: dict[tuple[Path, int, int], str] = field(default_factory=dict)  # of path, size and time of change
    _compared: bool = False  # whether the pages were compared with the files since they were last written

    @property
    def address(self) -> str:
        """The folder."""
        return str(self.folder)

    @property
    def _published(self) -> Path:
        return self.folder / FILES / self.tag

    @property
    def _uploads(self) -> Path:
        return self.folder / UPLOADS / self.tag

    @property
    def _files(self) -> Path:
        """Where the release is: published as a whole, or on its way there."""
        return self._published if self._published.is_dir() else self._uploads

    def list_files(self, projects: Collection[str]) -> Mapping[str, PublishedFile]:  # noqa: ARG002
        """Return what is there of the release, after the pages were compared with the files.

        Raises:
            PublishError: A page was edited by hand, or is damaged.
        """
        with _on_disk(f"cannot read {self.folder}", self.folder):
            if not self._compared:
                self._compare_pages()
                self._compared = True
            reasons = self._reasons(self.tag, self._files)
            return {
                path.name: PublishedFile(
                    path.name, self._hash(path), path.stat().st_size, path.as_uri(), reasons.get(path.name)
                )
                for path in _list_release(self._files)
            }

    def check_uploads(self, commit: str, *, credentials: bool) -> None:
        """Do nothing: all that is needed was named when it was opened."""

    def upload(self, file: Path, sha256: str) -> None:
        """Copy one file to those that wait for the release to be whole.

        Raises:
            PublishError: It is there with other bytes, or the release is published without it.
        """
        target = self._files / file.name
        if target.is_file() and self._hash(target) == sha256:
            return
        if target.exists() or self._published.is_dir():
            raise PublishError(
                f"{self.tag} in {self.folder} has {'another' if target.exists() else 'no'} {file.name}",
                cause="a release that was published does not change; what is there was sent from other files",
                remedy=f"publish under another version, or remove {self._files} if nobody has it yet",
            )
        with _on_disk(f"cannot copy {file.name} to {self.folder}", target):
            copied = copy_atomically(file, target)
        if copied != sha256:
            target.unlink()
            raise PublishError(f"{file} changed while it was copied", remedy="make the release again, then publish it")

    def download(self, file: PublishedFile, target: Path) -> None:
        """Copy a file back."""
        with _on_disk(f"cannot read {file.name} of {self.folder} back", target):
            copy_atomically(self._files / file.name, target)

    def finish(self) -> None:
        """Move the release to its place as a whole, and exchange the index for one that lists it.

        Raises:
            WheelError: A wheel is damaged, or its name is that of another wheel in another release.
        """
        if not self._files.is_dir():
            raise PublishError(f"nothing of {self.tag} was sent to {self.folder}")
        with _on_disk(f"cannot publish {self.tag} in {self.folder}", self.folder), self._locked():
            if self._files == self._uploads:
                _refuse_others(self._uploads)
                _add_metadata(self._uploads)
                self._list_projects(self._uploads)  # which raises if it does not go with what is there
                self._uploads.rename(self._published)
            self._write_index()
            with suppress(OSError):  # others are on their way
                self._uploads.parent.rmdir()

    def yank(self, names: Collection[str], reason: str) -> str:
        """Write the withdrawal down, and exchange the index for one that has it, which is all there is to do."""
        with _on_disk(f"cannot withdraw {self.tag} in {self.folder}", self.folder), self._locked():
            add_yanked(self.yanked_file, names, reason, find_date(os.environ)[:10])
            self._write_index()
        return ""

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other runs from changing the folder; its own lock is that of whoever stages files in it."""
        published = self.folder / FILES
        published.mkdir(parents=True, exist_ok=True)
        with locked(published):
            yield

    def _write_index(self) -> None:
        """Write the index from the files, whatever the pages were."""
        write_pages(self._list_projects(), self.folder / INDEX)
        self._compared = False

    def _list_projects(self, *more: Path, without: str = "") -> tuple[Project, ...]:
        """Return what the index has to say: all releases that are published, and some on their way there."""
        published = self.folder / FILES
        found = [path for path in sorted(published.iterdir()) if path.is_dir()] if published.is_dir() else []
        releases = [self._read_release(folder) for folder in (*found, *more) if folder.name != without]
        return list_projects(releases, f"the index of {self.folder}")

    def _read_release(self, folder: Path) -> IndexedRelease:
        source = WheelFolder(folder, f"../../{FILES}/{quote(folder.name, safe='')}")
        try:
            return read_release(source, self._reasons(folder.name, folder))
        except (UsageError, WheelError) as error:
            raise PublishError(
                error.what,
                cause=error.cause or "it was damaged or replaced after it was published",
                remedy=f"put the release that was published back into {folder}, or remove it",
            ) from error

    def _compare_pages(self) -> None:
        """Raise a `PublishError` unless the pages are those that follow from the files."""
        index = self.folder / INDEX
        if not index.is_dir():
            return
        # A run that was killed between its two last steps has moved the files, and not written the index.
        different, unfinished = (
            _find_different(installer_pages(self._list_projects(without=tag)), index) for tag in ("", self.tag)
        )
        if not different or not unfinished:
            return
        raise PublishError(
            f"{index / min(different)} is not what follows from the files",
            cause="it was edited by hand, is damaged, or somebody else's run was killed at its last step",
            remedy=f"move {index} away and publish again: the index is written anew from {self.folder / FILES}",
        )

    def _reasons(self, tag: str, folder: Path) -> dict[str, str]:
        return find_reasons(read_yanked(self.yanked_file), read_entries(folder), tag)

    def _hash(self, path: Path) -> str:
        """Return the sha256 of a file, read again only if it changed."""
        state = path.stat()
        key = (path, state.st_size, state.st_mtime_ns)
        if key not in self._digests:
            self._digests[key] = hash_file(path)
        return self._digests[key]


@contextmanager
def _on_disk(what: str, path: Path) -> Iterator[None]:
    """Turn what the system refuses into a `PublishError`; `path` is what was being written."""
    try:
        yield
    except OSError as error:
        raise explain_system(what, error, path) from error


def _find_different(expected: Mapping[str, bytes], index: Path) -> set[str]:
    """Return the paths of an index that are missing, altered, or nothing of it, apart from those for people.

    What people read says more with each version of the tooling; what installers read follows from the files alone.
    """
    found = (path.relative_to(index).as_posix() for path in index.rglob("*") if path.is_file())
    present = {name for name in found if not is_release_page(name)}
    altered = {name for name in expected.keys() & present if (index / name).read_bytes() != expected[name]}
    return altered | (expected.keys() ^ present)


def _list_release(folder: Path) -> Iterator[Path]:
    """Yield the files of a release, without METADATA next to its wheel."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        derived = (
            path.name.endswith(METADATA_SUFFIX) and path.with_name(path.name.removesuffix(METADATA_SUFFIX)).exists()
        )
        if path.is_file() and not path.name.startswith(".") and not derived:
            yield path


def _refuse_others(folder: Path) -> None:
    """Raise a `PublishError` if there is something that is no file of a release, and would become public with it."""
    others = sorted(path.name for path in folder.iterdir() if path.name.startswith(".") or not path.is_file())
    if others:
        raise PublishError(f"{folder / others[0]} is no file of a release", remedy="remove it, then publish again")


def _add_metadata(folder: Path) -> None:
    """Put the METADATA of each wheel next to it, where installers look for it (PEP 658)."""
    for name in read_entries(folder):
        if (folder / name).is_file():
            metadata = read_metadata(folder / name)
            (folder / f"{name}{METADATA_SUFFIX}").write_bytes(metadata)


def open_folder(destination: Destination, settings: Mapping[str, str], tag: str) -> Place:  # noqa: ARG001
    """Return the place.

    Raises:
        UsageError: The tag cannot be the name of a folder.
    """
    if not tag or Path(tag).name != tag or tag.startswith("."):
        raise UsageError(f"{tag!r} cannot be the name of a folder")
    folder = Path(settings["site"])
    return StaticFolder(folder.absolute(), tag, Path(settings.get("yanked-file", folder / YANKED_FILENAME)))


STATIC_FOLDER = PlaceKind(
    settings=(
        Setting("site", "folder that a web server serves, for a static index", reading=True, required="folder"),
        Setting("yanked-file", f"which wheels were withdrawn, and why (default: {YANKED_FILENAME} next to the index)"),
    ),
    open=open_folder,
)
