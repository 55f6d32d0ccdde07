# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A folder that any web server serves: the files of each release, and a static index whose links point there.

```text
FOLDER/.uploads/TAG/   what was sent so far, which no page links to; gone once all of it is published
FOLDER/files/TAG/      a whole release: wheels, their METADATA, documents
FOLDER/simple/         the index of all releases
FOLDER/index.html      where people start, unless it is somebody's own: it sends them on to the pages of the index
FOLDER/metadata/       the list of all releases, where its owner signs one
FOLDER/yanked.toml     which wheels were withdrawn, and why
```

The files are the truth: pages are only ever written from them, and never read.
"""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from securesystemslib.signer import SSlibKey

from pjrtwheel.attest.release_folder import SUMS_FILENAME, read_release_folder
from pjrtwheel.attest.release_list import ListedRelease
from pjrtwheel.attest.verify import verify_release
from pjrtwheel.errors import PublishError, UsageError, WheelError
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.files import copy_atomically, hash_file, locked
from pjrtwheel.products.index import JSON_PAGE, write_pages
from pjrtwheel.products.index.closure import ReadClosure, read_closure
from pjrtwheel.products.index.projects import IndexedFile, Project, list_projects, read_release
from pjrtwheel.publish.servers import explained
from pjrtwheel.publish.yanked import YANKED_FILENAME, check_decisions, read_reasons
from pjrtwheel.record.entries import Entry, read_entries

FILES, INDEX, UPLOADS = "files", "simple", ".uploads"


@dataclass(frozen=True, slots=True)
class StaticFolder:
    """One release in such a folder.

    Attributes:
        folder: The folder.
        tag: Tag of the release; empty for the index of all releases alone.
        closure: What finds the projects that those of the index need.
    """

    folder: Path
    tag: str
    closure: ReadClosure = read_closure

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

    def list_files(self, projects: Collection[str]) -> Mapping[str, IndexFile]:  # noqa: ARG002
        """Return what is there of the release."""
        with explained(f"cannot read {self.folder}", self.folder):
            reasons = self._reasons(self._files)
            return {
                path.name: IndexFile(path.name, _hash(path), path.stat().st_size, reasons.get(path.name), path.as_uri())
                for path in (sorted(self._files.iterdir()) if self._files.is_dir() else ())
                if path.is_file() and not path.name.startswith(".")
            }

    def check_uploads(self, commit: str, *, credentials: bool) -> None:
        """Do nothing: all that is needed was named when it was opened."""

    def begin(self, commit: str) -> None:
        """Do nothing: its folder is made with its first file."""

    def upload(self, file: Path, sha256: str) -> None:
        """Copy one file to those that wait for the release to be whole.

        Raises:
            PublishError: It is there with other bytes.
        """
        target = self._files / file.name
        if target.is_file() and _hash(target) == sha256:
            return
        if target.exists():
            raise PublishError(
                f"{self.tag} in {self.folder} has another {file.name}",
                cause="a release that was published does not change; what is there was sent from other files",
                remedy=f"publish under another version, or remove {self._files} if nobody has it yet",
            )
        with explained(f"cannot copy {file.name} to {self.folder}", target):
            copied = copy_atomically(file, target)
        if copied != sha256:
            target.unlink()
            raise PublishError(f"{file} changed while it was copied", remedy="make the release again, then publish it")

    def download(self, file: IndexFile, target: Path) -> None:
        """Copy a file back."""
        with explained(f"cannot read {file.filename} of {self.folder} back", target):
            copy_atomically(self._files / file.filename, target)

    def finish(self) -> None:
        """Move the release to its place as a whole, and exchange the index for one that lists it.

        Raises:
            WheelError: A wheel is damaged, or its name is that of another wheel in another release.
            FetchError: The package index does not have what the wheels need.
        """
        with explained(f"cannot publish {self.tag} in {self.folder}", self.folder), self._locked():
            waiting = [self._uploads] if self._files == self._uploads else []
            projects = self._list_projects(*waiting)  # which raises if it does not go with what is there
            others = self.closure(projects)
            if waiting:
                self._uploads.rename(self._published)
            write_pages(projects, others, self.folder / INDEX)
            with suppress(OSError):  # others are on their way
                self._uploads.parent.rmdir()

    def write_index(self) -> None:
        """Write the index anew, as after a withdrawal.

        Raises:
            PinError: A withdrawal is of nothing that is there.
        """
        with explained(f"cannot write the index of {self.folder}", self.folder), self._locked():
            check_decisions(self.folder / YANKED_FILENAME, self._released())
            projects = self._list_projects()
            write_pages(projects, self.closure(projects), self.folder / INDEX)

    def list_releases(self, key: SSlibKey) -> dict[str, ListedRelease]:
        """Return what the signed list says, tag → release; the key must have signed each of them.

        Raises:
            AttestError: It has not, or a release is damaged.
            PinError: A withdrawal is of nothing that is there.
        """
        check_decisions(self.folder / YANKED_FILENAME, self._released())
        releases = {}
        for folder in sorted(path for path in (self.folder / FILES).iterdir() if path.is_dir()):
            release = read_release_folder(folder)
            verify_release(release, key=key, tag=folder.name, documents_only=True)
            releases[folder.name] = ListedRelease((folder / SUMS_FILENAME).read_bytes(), self._reasons(folder))
        return releases

    def _released(self) -> dict[str, dict[str, Entry]]:
        """Return the wheels of each release that is published, by tag."""
        folders = (self.folder / FILES).iterdir()
        return {folder.name: read_entries(folder) for folder in folders if folder.is_dir()}

    def _locked(self) -> AbstractContextManager[None]:
        """Keep other runs from changing the folder; its own lock is that of whoever stages files in it."""
        published = self.folder / FILES
        published.mkdir(parents=True, exist_ok=True)
        return locked(published)

    def _list_projects(self, *more: Path) -> tuple[Project, ...]:
        """Return what the index has to say: all releases that are published, and some on their way there."""
        published = (path for path in sorted((self.folder / FILES).iterdir()) if path.is_dir())
        files = (file for folder in (*published, *more) for file in self._read_release(folder))
        return list_projects(files, f"the index of {self.folder}")

    def _read_release(self, folder: Path) -> tuple[IndexedFile, ...]:
        url = f"../../{FILES}/{quote(folder.name, safe='')}"
        try:
            return read_release(folder, self._reasons(folder), url=url)
        except (UsageError, WheelError) as error:
            raise PublishError(
                error.what,
                cause=error.cause or "it was damaged or replaced after it was published",
                remedy=f"put the release that was published back into {folder}, or remove it",
            ) from error

    def _reasons(self, folder: Path) -> dict[str, str]:
        return read_reasons(self.folder / YANKED_FILENAME, read_entries(folder), folder.name)


def _hash(path: Path) -> str:
    """Return the sha256 of a file, which is read again only if it changed."""
    state = path.stat()
    return _hash_at(path, state.st_size, state.st_mtime_ns)


@cache
def _hash_at(path: Path, size: int, changed: int) -> str:  # noqa: ARG001 - it is another file with other ones
    return hash_file(path)


def open_folder(settings: Mapping[str, str], tag: str) -> StaticFolder:
    """Return the place.

    Raises:
        UsageError: The tag cannot be the name of a folder, or the place is an index, which `index` would replace.
    """
    if Path(tag).name != tag or tag.startswith("."):
        raise UsageError(f"{tag!r} cannot be the name of a folder")
    folder = Path(settings["site"]).resolve()
    if (folder / JSON_PAGE).exists():
        raise UsageError(f"{folder} is an index, not a folder of releases", remedy="name another folder with --site")
    return StaticFolder(folder, tag)
