# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Publish a release: look at what is there, send what is missing, read every file back before the next one is sent.

The bytes are read back, not only what the destination says of them: an index computes a digest once, when a file
arrives, and serves the file from storage and caches that may have another. It costs one download of the release.
Files are compared in the order of the plan, so `jaxlib` is not sent before every plugin came back whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.errors import PublishError, WheelError, count, shorten
from pjrtwheel.files import hash_file
from pjrtwheel.publish.destinations import Destination
from pjrtwheel.publish.limits import check_limits
from pjrtwheel.publish.place import Place, PublishedFile
from pjrtwheel.publish.plan import Action, LocalFile, Plan, Scope, find_differences, make_plan, projects_of
from pjrtwheel.record.entries import Entry
from pjrtwheel.sets.projects import BINDINGS, PURE_PYTHON
from pjrtwheel.sets.tags import tag_of_wheels
from pjrtwheel.wheel.names import parse_name

# How long to wait for a file that was sent to be listed: some indexes list from a cache.
LISTING_WAITS_S = (0.5, 2.0, 5.0, 15.0)
_SHOWN = 3
_WORDS = {Action.SEND: "sending", Action.THERE: "checking"}


@dataclass(frozen=True, slots=True)
class Publication:
    """One release on its way to one place.

    Attributes:
        destination: The destination.
        place: The release there.
        release: The folder of the release.
        scratch: An empty folder for what is downloaded.
        trust_hashes: Whether a digest that the place states is enough, without a download.
        report: Called with each line that is printed.
        wait: Called with seconds to wait.
    """

    destination: Destination
    place: Place
    release: ReleaseFolder
    scratch: Path
    trust_hashes: bool = False
    report: Callable[[str], None] = print
    wait: Callable[[float], None] = time.sleep
    _read: set[str] = field(default_factory=set, init=False)  # names of files that were read back, and are right

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The wheels that are published at this destination."""
        return tuple(entry for entry in self.release.entries if self.destination.takes(entry.filename))

    @property
    def files(self) -> tuple[LocalFile, ...]:
        """The files of the release that are published at this destination."""
        wheels = (LocalFile(entry.filename, entry.sha256, entry.size, entry.distribution) for entry in self.entries)
        return (*wheels, *map(self._document, filter(self.destination.takes, self.release.documents)))

    @property
    def scope(self) -> Scope:
        """Which other files that are there would be a part of the release."""
        if not self.destination.is_shared:
            return Scope(alone=True)
        return Scope(extras=find_extras(self.entries))

    @property
    def left_out(self) -> str:
        """What is not published at this destination, in words; empty if there is nothing."""
        variants = len(self.release.entries) - len(self.entries)
        documents = len(self.release.documents) - sum(map(self.destination.takes, self.release.documents))
        return ", ".join(
            count(number, noun) for number, noun in ((variants, "wheel variant"), (documents, "document")) if number
        )

    @property
    def tag(self) -> str:
        """The tag of the release."""
        return tag_of_wheels(map(parse_name, self.release.wheels))

    def find_local(self, file: LocalFile) -> Path:
        """Return where a file of the release is on this disk."""
        return self.release.path / file.name

    def examine(self) -> Plan:
        """Compare the release with what is there, which changes nothing.

        Raises:
            PublishError: The destination cannot be read.
        """
        files = {file.name: file for file in self.files}
        problems = check_limits(self.destination, self.release.entries, self.release.documents)
        present = self.place.list_files(self._projects)
        both = files.keys() & present.keys()
        known = {**present, **{name: self._add_hash(present[name], files[name].size) for name in both}}
        return make_plan(self.tag, self.destination.name, files.values(), known, problems, self.scope)

    def send(self, plan: Plan, source: Callable[[LocalFile], Path]) -> None:
        """Do what the plan says, with the bytes that `source` finds on this disk, and compare all with the release.

        Raises:
            PublishError: The destination refused a file, failed, or has other bytes than those that were sent; the
                message says what is published and how to go on.
        """
        done: list[LocalFile] = []
        try:
            if not plan.to_send:
                self.report(f"checking {count(len(plan.steps), 'file')}")
            for number, step in enumerate(plan.steps, 1):
                if plan.to_send:
                    self.report(f"{number:>3}/{len(plan.steps)} {_WORDS[step.action]:<8} {step.file.name}")
                if step.action is Action.SEND:
                    self.place.upload(source(step.file), step.file.sha256)
                self._read_back(step.file)
                done.append(step.file)
            self._compare_whole(plan)  # before anybody sees what is still a draft
            self.place.finish()
            self._compare_whole(plan)
        except (PublishError, WheelError) as error:
            raise add_progress(error, plan, done) from error

    @property
    def _projects(self) -> tuple[str, ...]:
        """All projects of which the destination may have files that matter."""
        return tuple(dict.fromkeys((*projects_of(self.files), *self.scope.extras)))

    def _document(self, name: str) -> LocalFile:
        path = self.release.path / name
        return LocalFile(name, self.release.digests.get(name) or hash_file(path), path.stat().st_size)

    def _add_hash(self, found: PublishedFile, size: int) -> PublishedFile:
        """Return a file with its digest; where the place states none, it is downloaded as far as ours is long."""
        if found.sha256:
            return found
        digest = self._download(found, size)
        self._read.add(found.name)
        return replace(found, sha256=digest)

    def _read_back(self, file: LocalFile) -> None:
        """Make sure that a file is listed, under its digest and with its bytes."""
        if file.name in self._read:
            return
        found = self._list(projects_of([file]), [file.name]).get(file.name)
        if found is None:
            raise PublishError(
                f"{self.destination.name} does not list {file.name}",
                cause=f"it took the file, but {self.place.address} does not show it",
                remedy="check that both addresses are those of one index",
            )
        if found.sha256:
            self._compare(file, found.sha256, "it says that the sha256 is")
        if not (self.trust_hashes and found.sha256):
            self._compare(file, self._download(found, file.size), "what it serves has the sha256")
        self._read.add(file.name)

    def _compare(self, file: LocalFile, digest: str, saying: str) -> None:
        if digest != file.sha256:
            raise PublishError(
                f"{self.destination.name} has other bytes than {file.name}",
                cause=f"{saying} {digest[:16]}..., that of the release is {file.sha256[:16]}...",
                remedy="remove the file there, or yank it, and have the index looked at",
            )

    def _list(self, projects: Collection[str], names: Iterable[str]) -> Mapping[str, PublishedFile]:
        """List what is there, for a while again and again if some names are missing."""
        expected = set(names)
        for seconds in LISTING_WAITS_S:
            present = self.place.list_files(projects)
            if expected <= present.keys():
                return present
            self.wait(seconds)
        return self.place.list_files(projects)

    def _download(self, found: PublishedFile, size: int) -> str:
        target = self.scratch / "read-back"
        try:
            self.place.download(replace(found, size=size), target)
            return hash_file(target)
        finally:
            target.unlink(missing_ok=True)

    def _compare_whole(self, plan: Plan) -> None:
        """Compare all that is there at the end with the release, by names and digests."""
        files = {step.file.name: step.file for step in plan.steps}
        present = self._list(self._projects, files)
        stated = {
            name: found if found.sha256 or name not in files else replace(found, sha256=files[name].sha256)
            for name, found in present.items()  # those without a digest were downloaded
        }
        missing = [f"{name} is missing" for name in files if name not in present]
        problems = [*missing, *find_differences(plan.destination, files.values(), stated, self.scope)]
        if problems:
            raise PublishError(
                f"{plan.destination} does not have {plan.tag} as it was sent", cause=shorten(problems, _SHOWN, "; ")
            )


def find_extras(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the projects that `jaxlib` requires in its own version, for its extras, and of which no wheel is there."""
    found = {
        canonicalize_name(need.name)
        for entry in entries
        if entry.distribution == BINDINGS
        for need in _parse_requirements(entry.requires)
        if str(need.specifier) == f"=={entry.version}"
    }
    return tuple(sorted(found - {entry.distribution for entry in entries}))


def _parse_requirements(lines: Iterable[str]) -> Iterator[Requirement]:
    for line in lines:
        with suppress(InvalidRequirement):  # which no installer could follow
            yield Requirement(line)


def add_progress(error: PublishError | WheelError, plan: Plan, done: Sequence[LocalFile]) -> PublishError:
    """Return an error that also says what is published so far, and how to go on."""
    plugins = [step.file for step in plan.steps if step.file.project not in {"", BINDINGS, *PURE_PYTHON}]
    bindings = [step.file for step in plan.steps if step.file.project == BINDINGS]
    state = f"published so far: {len(done)} of {count(len(plan.steps), 'file')}"
    if bindings:
        state += f" ({len({*done} & {*plugins})} of {count(len(plugins), 'plugin wheel')}, "
        state += f"{len({*done} & {*bindings})} of {len(bindings)} of {BINDINGS})"
    resume = "run the same command again, which sends only what is missing"
    advice = f"{error.remedy}, then {resume}" if error.remedy else resume
    return PublishError(error.what, cause=error.cause, remedy=f"{state}; {advice}")
