# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Fill a bundle: wheels first, `bundle.json` last, so that a killed run is finished by the same command."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pjrtwheel.bundle.check import find_unlisted
from pjrtwheel.bundle.manifest import (
    BEGUN,
    MANIFEST,
    PAGES_FOLDER,
    REPOSITORY,
    SCHEMA,
    BundledFile,
    Kind,
    Manifest,
    format_manifest,
)
from pjrtwheel.bundle.pages import describe_file, write_pages
from pjrtwheel.bundle.plan import BundledBuild, list_pins, read_locks
from pjrtwheel.bundle.proofs import proof_pythons, resolve_proofs
from pjrtwheel.bundle.repository import write_repository
from pjrtwheel.bundle.resolve import Resolved, download, resolve
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv
from pjrtwheel.errors import FetchError, UsageError, count
from pjrtwheel.fetch.bundled import WHEELS_FOLDER
from pjrtwheel.fetch.cache import WheelCache, disk_errors
from pjrtwheel.files import hash_file, link_or_copy, staging_folder, write_atomically
from pjrtwheel.platforms import Platform


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """What a bundle is made for.

    Attributes:
        root: The checkout, whose commit goes into it.
        builds: What can be built from it.
        host: The platform that it works on, which is this machine's.
        tool_pythons: The interpreters that the tools are for.
        interpreters: Those that wheels are proven on.
    """

    root: Path
    builds: tuple[BundledBuild, ...]
    host: Platform
    tool_pythons: tuple[Interpreter, ...]
    interpreters: tuple[Interpreter, ...]


@dataclass(slots=True)
class _Folder:
    """The wheels of a bundle that is being filled: file name → file."""

    folder: Path
    scratch: Path
    files: dict[str, BundledFile] = field(default_factory=dict)

    def holds(self, filename: str, sha256: str, kind: Kind) -> bool:
        """Return whether a wheel is there, in this run or from an earlier one, and count it in if so."""
        path = f"{WHEELS_FOLDER}/{filename}"
        if known := self.files.get(filename):
            if known.sha256 != sha256:
                raise FetchError(
                    f"two files are called {filename}", cause="the package index has other bytes than the pin"
                )
            return True
        place = self.folder / path
        if not place.is_file() or hash_file(place) != sha256:
            return False
        self.files[filename] = BundledFile(kind, path, place.stat().st_size, sha256)
        return True

    def add(self, source: Path, sha256: str, kind: Kind) -> None:
        """Put a wheel into its place, whole; where the disk is the same, its bytes are not copied."""
        fresh = self.scratch / source.name
        link_or_copy(source, fresh)
        fresh.replace(self.folder / WHEELS_FOLDER / source.name)
        if not self.holds(source.name, sha256, kind):
            raise FetchError(f"{source.name} was damaged on its way into {self.folder}", remedy="run the command again")


def make_bundle(request: BundleRequest, folder: Path, cache: WheelCache) -> Manifest:
    """Fill a folder, or finish one that was begun, and return what is in it; what it no longer needs is removed.

    Raises:
        UsageError: The folder has something else in it, or the checkout has changes that are not committed.
        FetchError: Something could not be downloaded.
    """
    _check_folder(folder)
    with disk_errors(folder, "make room there, or name another folder"), staging_folder(folder) as scratch:
        (folder / BEGUN).touch()
        (folder / WHEELS_FOLDER).mkdir(exist_ok=True)
        commit = write_repository(request.root, scratch / REPOSITORY)
        wheels = _Folder(folder, scratch)
        _add_inputs(wheels, request, cache)
        _add_tools(wheels, request)
        _add_proofs(wheels, request, cache)
        (scratch / REPOSITORY).replace(folder / REPOSITORY)
        pages = write_pages(folder, wheels.files.values())
        files = [*wheels.files.values(), *pages, describe_file(folder, REPOSITORY, Kind.REPOSITORY)]
        manifest = Manifest(
            schema=SCHEMA,
            commit=commit,
            host=request.host.name,
            tool_pythons=tuple(found.tag for found in request.tool_pythons),
            proof_pythons=_proven(request),
            wheels=tuple(map(str, request.builds)),
            files=tuple(sorted(files, key=lambda file: file.path)),
        )
        write_atomically(folder / MANIFEST, format_manifest(manifest))
        _remove_others(folder, manifest)
        (folder / BEGUN).unlink()
    return manifest


def _check_folder(folder: Path) -> None:
    """Refuse a folder that has anything in it, unless a bundle was begun there."""
    # Hidden ones are leftovers of killed runs, or somebody's desktop's.
    found = sorted(path.name for path in folder.glob("[!.]*")) if folder.is_dir() else []
    is_ours = {BEGUN, MANIFEST} & set(found)
    problem = ""
    if folder.exists() and not folder.is_dir():
        problem = "it is a file"
    elif found and not is_ours:
        problem = f"it has {found[0]}"
    elif linked := [name for name in (WHEELS_FOLDER, PAGES_FOLDER) if (folder / name).is_symlink()]:
        problem = f"its {linked[0]} is a link to another folder"
    if problem:
        remedy = "name a new folder, or one that a bundle was begun in"
        raise UsageError(f"not a folder for a bundle: {folder}", cause=problem, remedy=remedy)


def _proven(request: BundleRequest) -> tuple[str, ...]:
    return proof_pythons(request.builds, [found.tag for found in request.interpreters], request.host.name)


def _add_inputs(wheels: _Folder, request: BundleRequest, cache: WheelCache) -> None:
    pins = list_pins(request.builds, request.host)
    for number, pin in enumerate(pins, 1):
        if not wheels.holds(pin.filename, pin.sha256, Kind.INPUT):
            _say(f"pinned input {number} of {len(pins)}: {pin.filename}")
            wheels.add(cache.fetch(pin), pin.sha256, Kind.INPUT)


def _add_tools(wheels: _Folder, request: BundleRequest) -> None:
    locked = read_locks(request.root)
    known = frozenset[str]().union(*locked.values())
    for interpreter in request.tool_pythons:
        python, scratch = _make_empty(interpreter, wheels.scratch, "tools")
        listed = scratch / "locked.txt"
        listed.write_text("".join(f"{line}\n" for line in locked), "utf-8")
        found = resolve(python, ["--requirement", str(listed)], scratch, "--no-deps")
        if strange := [entry.filename for entry in found if entry.sha256 not in known]:
            raise FetchError(
                f"not the file that is locked: {', '.join(strange)}",
                remedy="do not use that index, or lock what it has: ./noxw -s lock_tools",
            )
        _fetch(wheels, found, Kind.TOOL, f"tools on Python {interpreter.version}", python, scratch)


def _add_proofs(wheels: _Folder, request: BundleRequest, cache: WheelCache) -> None:
    host = request.host.name
    for interpreter in request.interpreters:
        builds = [build for build in request.builds if proof_pythons([build], [interpreter.tag], host)]
        if not builds:
            continue
        python, scratch = _make_empty(interpreter, wheels.scratch, "proofs")
        found = {
            entry.sha256: entry
            for build in builds
            for entry in resolve_proofs(build, interpreter, python, root=request.root, cache=cache, scratch=scratch)
        }
        _fetch(wheels, found.values(), Kind.PROOF, f"proofs on Python {interpreter.version}", python, scratch)


def _make_empty(interpreter: Interpreter, scratch: Path, name: str) -> tuple[Path, Path]:
    """Return the Python of an empty environment, and a folder to work in."""
    folder = scratch / f"{name}-{interpreter.tag}"
    return create_venv(interpreter, folder / "venv"), folder


def _fetch(wheels: _Folder, found: Iterable[Resolved], kind: Kind, what: str, python: Path, scratch: Path) -> None:
    entries = list(found)
    digests = {entry.filename: entry.sha256 for entry in entries}
    missing = [entry for entry in entries if not wheels.holds(entry.filename, entry.sha256, kind)]
    _say(f"{what}: {count(len(entries), 'wheel')}, {len(missing)} to download")
    for paths in download(python, missing, scratch):
        for path in paths:
            wheels.add(path, digests[path.name], kind)
            path.unlink()


def _remove_others(folder: Path, manifest: Manifest) -> None:
    """Remove what earlier runs put into the bundle, and this one does not need."""
    for path in find_unlisted(folder, manifest.files):
        (folder / path).unlink()
    for place in (folder / WHEELS_FOLDER, folder / PAGES_FOLDER):
        for empty in [path for path in place.iterdir() if path.is_dir() and not any(path.iterdir())]:
            empty.rmdir()


def summarize(manifest: Manifest) -> Sequence[str]:
    """Return lines with what is in a bundle, by kind."""
    lines = [_summarize_kinds(manifest, f"{kind.value}s", [kind]) for kind in Kind if kind is not Kind.REPOSITORY]
    lines.insert(3, _summarize_kinds(manifest, Kind.REPOSITORY, [Kind.REPOSITORY]))
    more = 100 * (manifest.size_of(Kind) / manifest.size_of((Kind.INPUT, Kind.TOOL, Kind.PROOF)) - 1)
    return [*lines, f"{_summarize_kinds(manifest, 'all', Kind)}, {more:.1f} % more than the wheels in it"]


def _summarize_kinds(manifest: Manifest, name: str, kinds: Iterable[Kind]) -> str:
    wanted = tuple(kinds)
    number = sum(file.kind in wanted for file in manifest.files)
    return f"  {name:<14}{number:>4} files {manifest.size_of(wanted) / 1e6:>8.1f} MB"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
