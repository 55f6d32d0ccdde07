# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Publish a release: look at what is there, send what is missing, read every file back before the next one is sent.

The bytes are read back, not only what the destination says of them: an index computes a digest once, when a file
arrives, and serves the file from storage and caches that may have another. It costs one download of the release.
Files are compared in the order of the plan, so `jaxlib` is not sent before every plugin came back whole.
"""

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.errors import PublishError, WheelError, count, fit, shorten
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.files import hash_file, require_space
from pjrtwheel.publish.destinations import Destination, DestinationKind, Place, check_limits
from pjrtwheel.publish.plan import LocalFile, Plan, find_differences, format_plan, make_plan, projects_of
from pjrtwheel.record.entries import Entry
from pjrtwheel.sets.tags import find_project
from pjrtwheel.wheel.names import METADATA_SUFFIX
from pjrtwheel.wheel.unpack import read_metadata

# How long to wait for a file that was sent to be listed: some indexes list from a cache.
LISTING_WAITS_S = (0.5, 2.0, 5.0, 15.0)
_SHOWN = 3
_REPAIR = "check that uploads and pages are of one index; what is wrong there, remove or yank"


@dataclass(frozen=True)
class Publication:
    """One release on its way to one place.

    Attributes:
        destination: The destination.
        place: The release there.
        release: The folder of the release.
        scratch: An empty folder for what is downloaded, or made on the way.
    """

    destination: Destination
    place: Place
    release: ReleaseFolder
    scratch: Path
    _downloaded: dict[str, str] = field(default_factory=dict, init=False)  # file name → sha256 of what came

    @cached_property
    def files(self) -> tuple[LocalFile, ...]:
        """The files of the release that are published at this destination; METADATA of its wheels is made for that."""
        folder = self.release.path
        wheels = (
            LocalFile(folder / entry.filename, entry.sha256, entry.size, entry.distribution) for entry in self._entries
        )
        documents = (folder / name for name in self.release.documents if self.destination.takes(name))
        metadata = map(self._write_metadata, self._entries) if self.destination.has_metadata else ()
        return (*wheels, *(LocalFile(path, hash_file(path), path.stat().st_size) for path in (*documents, *metadata)))

    def examine(self) -> Plan:
        """Compare the release with what is there, which changes nothing.

        Raises:
            PublishError: The destination cannot be read.
        """
        problems = check_limits(self.destination, self.release.entries, self.release.documents)
        return make_plan(
            self.destination.name, self.files, self._list(self.files), problems, alone=not self.destination.is_shared
        )

    def send(self, plan: Plan, staged: Mapping[str, Path]) -> None:
        """Do what the plan says, with the bytes that came from a stage if any did, and compare all with the release.

        Raises:
            PublishError: The destination refused a file, failed, or has other bytes than those that were sent; the
                message says what is published and how to go on.
        """
        done: list[LocalFile] = []
        try:
            if plan.to_send:
                self.place.begin(self.release.commit)
            else:
                print(f"checking {count(len(plan.files), 'file')}")
            for number, file in enumerate(plan.files, 1):
                send = file in plan.to_send
                if plan.to_send:
                    print(f"{number:>3}/{len(plan.files)} {'sending' if send else 'checking':<8} {file.name}")
                if send:
                    self.place.upload(staged.get(file.name, file.path), file.sha256)
                self._read_back(file)
                done.append(file)
            self._compare(self.files, whole=True)  # before anybody sees what is still a draft
            self.place.finish()
            self._compare(self.files, whole=True)
        except (PublishError, WheelError) as error:
            raise _add_progress(error, plan, done) from error

    @cached_property
    def _entries(self) -> tuple[Entry, ...]:
        """The wheels that are published at this destination."""
        return tuple(entry for entry in self.release.entries if self.destination.takes(entry.filename))

    def _write_metadata(self, entry: Entry) -> Path:
        """Write the METADATA of a wheel to where it is sent from (PEP 658)."""
        target = self.scratch / f"{entry.filename}{METADATA_SUFFIX}"
        target.write_bytes(read_metadata(self.release.path / entry.filename))
        return target

    def _read_back(self, file: LocalFile) -> None:
        """Make sure that a file is listed, under its digest and with its bytes."""
        found = self._compare([file])[file.name]
        if self.destination.keeps_digests:
            return
        self.check_bytes(file, self._download(file, found))

    def check_bytes(self, file: LocalFile, digest: str) -> None:
        """Raise a `PublishError` if what the destination serves as a file has another digest."""
        if digest != file.sha256:
            raise PublishError(
                f"{self.destination.name} serves other bytes than {file.name}",
                cause=f"they have the sha256 {digest[:16]}..., those of the release {file.sha256[:16]}...",
                remedy=_REPAIR,
            )

    def _compare(self, files: Sequence[LocalFile], *, whole: bool = False) -> Mapping[str, IndexFile]:
        """Compare files with what is listed there, and return that; with `whole` they have to be all there is."""
        name, ours = self.destination.name, {file.name for file in files}
        listed = self._list(files, LISTING_WAITS_S)
        present = listed if whole else {file: listed[file] for file in ours & listed.keys()}
        missing = [f"{file} is missing" for file in sorted(ours - present.keys())]
        alone = whole and not self.destination.is_shared
        if problems := [*missing, *find_differences(name, files, present, alone=alone)]:
            raise PublishError(
                f"{name} does not have {self.release.tag if whole else files[0].name} as it was sent",
                cause=shorten(problems, _SHOWN, "; "),
                remedy=_REPAIR,
            )
        return present

    def _list(self, files: Sequence[LocalFile], waits: Sequence[float] = ()) -> dict[str, IndexFile]:
        """List the projects of some files, once more after each wait while a file is missing.

        A file of ours that is listed without a digest is downloaded for it.
        """
        projects = projects_of(files)
        present = dict(self.place.list_files(projects))
        for seconds in waits:
            if all(file.name in present for file in files):
                break
            time.sleep(seconds)
            present = dict(self.place.list_files(projects))
        for file in files:
            found = present.get(file.name)
            if found and not found.sha256:
                present[file.name] = replace(found, sha256=self._download(file, found))
        return present

    def _download(self, file: LocalFile, found: IndexFile) -> str:
        """Return the sha256 of what is served as a file, which is downloaded once, as far as ours is long."""
        if file.name not in self._downloaded:
            target = self.scratch / "read-back"
            try:
                self.place.download(replace(found, size=file.size), target)
                self._downloaded[file.name] = hash_file(target)
            finally:
                target.unlink(missing_ok=True)
        return self._downloaded[file.name]


def publish_release(publication: Publication, stage: Publication | None, *, dry_run: bool) -> None:
    """Print the plan and, unless that is all, follow it; with a stage the bytes that are sent are those it serves.

    Raises:
        PublishError: The destination or the stage refused, failed or differs.
        UsageError: It is not known where files are uploaded to.
    """
    place, release, tag = publication.place, publication.release, publication.release.tag
    plan = publication.examine()
    destination = publication.destination.name
    print("\n".join(format_plan(f"{tag} to {destination}", plan)))
    if plan.problems:
        raise PublishError(
            f"{tag} cannot be published to {destination}; nothing was sent",
            cause=shorten(plan.problems, 1),
            remedy="what installers may have seen is never replaced: publish under another version, or fix the above",
        )
    if left_out := sorted({*release.wheels, *release.documents} - {file.name for file in plan.files}):
        print(f"left out, for {destination} takes none of the kind: {fit(left_out)}")
    place.check_uploads(release.commit, credentials=not dry_run and bool(plan.to_send))
    if stage:
        _check_stage(stage)
    if dry_run:
        print("nothing was sent: this is a dry run")
        return
    publication.send(plan, _take_from_stage(stage) if stage else {})
    print(f"{tag} is at {place.address}, read back as SHA256SUMS has it")
    if publication.destination.kind is not DestinationKind.GITHUB and not find_project(tag):
        print(f"next: ./noxw verify_installs --index {place.address}")


def _check_stage(stage: Publication) -> None:
    """Make sure that a stage lists the whole release under its digests, before anything is taken from it.

    Raises:
        PublishError: Files are missing there, or are others than those of the release folder.
    """
    name = stage.destination.name
    plan = stage.examine()
    if problems := [*plan.problems, *(f"{file.name} is missing" for file in plan.to_send)]:
        raise PublishError(
            f"{name} does not have {stage.release.tag} as the folder describes it; nothing was sent",
            cause=shorten(problems, _SHOWN, "; "),
            remedy=f"publish the folder to {name}, test it there, and promote it then",
        )


def _take_from_stage(stage: Publication) -> Mapping[str, Path]:
    """Download a whole release from a stage, and return where each of its files is from then on.

    What the stage does not take, such as documents, is in the release folder.

    Raises:
        PublishError: What the stage serves is not what the release folder describes.
        WheelError: There is no room for it.
    """
    target = stage.scratch / "staged"
    target.mkdir()
    require_space(target, sum(file.size for file in stage.files))
    present = stage.place.list_files(projects_of(stage.files))
    for file in stage.files:
        stage.place.download(replace(present[file.name], size=file.size), target / file.name)
        stage.check_bytes(file, hash_file(target / file.name))
    staged = {file.name: target / file.name for file in stage.files}
    for name in {*stage.release.documents} - staged.keys():
        shutil.copy(stage.release.path / name, target)  # attestations are sent with the wheels that they lie next to
    print(f"{count(len(staged), 'file')} taken from {stage.destination.name}, as the folder describes them")
    return staged


def _add_progress(error: PublishError | WheelError, plan: Plan, done: Sequence[LocalFile]) -> PublishError:
    """Return an error that also says what is published so far, and how to go on."""
    state = f"published so far: {len(done)} of {count(len(plan.files), 'file')}"
    resume = "run the same command again, which sends only what is missing"
    advice = f"{error.remedy}, then {resume}" if error.remedy else resume
    return PublishError(error.what, cause=error.cause, remedy=f"{state}; {advice}")
