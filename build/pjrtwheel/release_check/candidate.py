# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Gather what the checks look at: a tag's release as it lies in a folder, the repository, and this moment."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import REFERENCE
from pjrtwheel.products.auto import list_filename, release_document, variant_name
from pjrtwheel.products.variants import make_variants
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, read_entries, require_record
from pjrtwheel.record.origin import ask_git, is_in_history, list_changes
from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import make_lock
from pjrtwheel.sets import AUTO, BINDINGS, PURE_PYTHON, SELECTOR
from pjrtwheel.sets.promised import promised_set
from pjrtwheel.sets.published import read_lock
from pjrtwheel.sets.tags import PROJECTS, find_project, project_version
from pjrtwheel.wheel.metadata import find_other_name
from pjrtwheel.wheel.names import find_name, make_name, parse_name
from pjrtwheel.wheel.unpack import read_metadata
from pjrtwheel.workflows import list_labelled

CHANGELOG = "CHANGELOG.md"


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """What git and the changelog say.

    Attributes:
        head: The commit that is checked out; empty outside git.
        tagged: The commit that the tag is on; empty if there is no such tag.
        changes: Files that differ from the commit, or that it does not have; `None` if git cannot tell.
        ancestors: Those of some commits that are in the history of the tag, or without one in that of the checkout.
        changelog: The text of the changelog.
    """

    head: str
    tagged: str
    changes: tuple[str, ...] | None
    ancestors: frozenset[str]
    changelog: str


@dataclass(frozen=True, slots=True)
class WheelFile:
    """A wheel as it lies in a folder.

    Attributes:
        sha256: Hexadecimal digest of its bytes.
        fault: What is wrong inside it, such as METADATA of another project; empty if nothing is.
    """

    sha256: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Promise:
    """What a tag promises.

    Attributes:
        version: Version of its wheels.
        wheels: Their file names.
        documents: File name → text of what is published with them; `None` in place of a text that is not known.
        locks: The lock ids that follow from the release file; none for wheels without a lock.
        with_plugin: Platforms that a plugin is promised for.
        labelled: What the wheels ask for with a local version label, where that is not their own set.
        names: How the changelog may name the release.
        fault: Why not all of this is known; empty otherwise.
    """

    version: str
    wheels: frozenset[str]
    documents: Mapping[str, str | None] = field(default_factory=dict)
    locks: frozenset[str] = frozenset()
    with_plugin: frozenset[str] = frozenset()
    labelled: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A release that may be published.

    Attributes:
        tag: Its tag.
        promise: What it promises.
        listed: File name → entry of all wheels that the folder's `release.json` lists.
        present: File name → file, of its wheels and of those that nothing lists.
        documents: Names of the other files in the folder.
        altered: Those of them that have another text than is promised.
        checkout: The repository.
    """

    tag: str
    promise: Promise
    listed: Mapping[str, Entry]
    present: Mapping[str, WheelFile]
    documents: Collection[str]
    altered: Collection[str]
    checkout: RepositoryState

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of the wheels that are promised and listed."""
        return tuple(entry for name, entry in sorted(self.listed.items()) if name in self.promise.wheels)


def gather(root: Path, tag: str, release: Release | None, dist: Path) -> Candidate:
    """Read all that is to be checked of a tag; without a release it is that of a project alone.

    Raises:
        UsageError: The folder has no `release.json`.
        WheelError: It is damaged.
    """
    require_record(dist)
    listed, backends = read_entries(dist), load_backends(root).values()
    promise = promise_of_set(release, backends, listed.values()) if release else promise_of_project(root, tag)
    entries = [entry for name, entry in listed.items() if name in promise.wheels]
    origins = [entry.built for entry in entries] + [proof.origin for entry in entries for proof in entry.proofs()]
    names = {path.name for path in dist.glob("*.whl") if path.is_file()}
    documents = {path.name for path in dist.iterdir() if path.is_file()} - names
    return Candidate(
        tag=tag,
        promise=promise,
        listed=listed,
        present={
            name: read_file(dist / name, listed.get(name))
            for name in sorted(names)
            if name in promise.wheels or name not in listed
        },
        documents=documents,
        altered={
            name
            for name, text in promise.documents.items()
            if text is not None and name in documents and (dist / name).read_bytes() != text.encode()
        },
        checkout=look_at_checkout(root, tag, {origin.commit for origin in origins if origin.commit}),
    )


def promise_of_set(release: Release, backends: Collection[Backend], listed: Iterable[Entry]) -> Promise:
    """Return what the tag of a release promises: the wheels of its file, and if there is any all of `jaxlib-auto`."""
    version = release.set_version
    wheels = promised_set(release, backends, REFERENCE)
    names = {wheel.filename for wheel in wheels}
    ours = [entry for entry in listed if entry.version == version]
    has_auto, fault, listing = any(entry.distribution == AUTO for entry in ours), "", None
    if has_auto:
        try:
            promised = [entry for entry in ours if entry.filename in names]
            variants = make_variants(backends, promised, release)
            names |= {variant_name(variant, version).filename for variant in variants}
            listing = release_document(variants)
        except UsageError as error:
            fault = f"the wheels of {AUTO} cannot be listed: {error.what}"
            names |= {entry.filename for entry in ours if entry.distribution == AUTO}
    providers = {entry.provider for entry in ours if entry.distribution not in PURE_PYTHON}
    plugins = [wheel.platform for wheel in wheels if wheel.distribution != BINDINGS]
    return Promise(
        version=version,
        wheels=frozenset(names),
        documents={list_filename(version): listing} if has_auto else {},
        locks=frozenset(make_lock(release, provider).lock_id for provider in providers),
        with_plugin=frozenset(platform.name for platform in plugins if platform),
        # A first set is named by its release; a second one is not, as that was listed before.
        names=(version, release.version) if release.build == 1 else (version,),
        fault=fault,
    )


def promise_of_project(root: Path, tag: str) -> Promise:
    """Return what the tag of a project promises that belongs to no release: its wheel."""
    command = find_project(tag)
    project, version = PROJECTS[command][0], project_version(root, command)
    name = make_name(project, version, "py3-none-any").filename
    labelled = list_labelled(root) if project == SELECTOR else ()
    return Promise(version, frozenset({name}), labelled=labelled, names=(f"{project} {version}",))


def look_at_checkout(root: Path, tag: str, commits: Iterable[str]) -> RepositoryState:
    """Ask git about a repository, its tag and some commits."""
    head = ask_git(root, "rev-parse", "--verify", "--quiet", "HEAD") or ""
    tagged = ask_git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}") or ""
    known = set(filter(re.compile("[0-9a-f]{40,64}").fullmatch, commits))
    ancestors = {commit for commit in known if is_in_history(root, commit, tagged or head)}
    path = root / CHANGELOG
    text = path.read_text("utf-8") if path.is_file() else ""
    return RepositoryState(head, tagged, list_changes(root), frozenset(ancestors), text)


def read_file(path: Path, entry: Entry | None) -> WheelFile:
    """Hash a wheel; if it is the one that its entry describes, look at its METADATA and its lock as well."""
    digest, fault = hash_file(path), ""
    if entry is not None and digest == entry.sha256 and find_name(path.name):
        try:
            fault = _find_fault(path, entry)
        except WheelError as error:
            fault = f"{path.name} is damaged: {str(error).splitlines()[0]}"
    return WheelFile(digest, fault)


def _find_fault(path: Path, entry: Entry) -> str:
    """Say that a wheel is another one than its file name and its entry state; nothing where they agree."""
    if other := find_other_name(read_metadata(path).decode("utf-8", "replace"), parse_name(path.name)):
        return f"METADATA of {path.name} says that it is {other}"
    if entry.distribution in PURE_PYTHON:  # they have no lock, as nothing loads them
        return ""
    try:
        found = read_lock(path, entry.package).lock_id
    except UsageError:
        found = ""
    carried, stated = (f"lock {lock[:8]}" if lock else "no lock" for lock in (found, entry.lock_id))
    return f"{path.name} carries {carried}, {RELEASE_FILENAME} says {stated}" if found != entry.lock_id else ""
