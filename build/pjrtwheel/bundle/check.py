# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the files of a bundle to its manifest; standard library only.

Sessions that take from a bundle do so each time, and hash a file once: until its size, inode or times change.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from pjrtwheel.bundle.manifest import MANIFEST, PAGES_FOLDER, BundledFile, Manifest
from pjrtwheel.errors import FetchError, UsageError, count
from pjrtwheel.fetch.bundled import WHEELS_FOLDER
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.tables import TableError, read_json

_HASHERS = min(4, os.cpu_count() or 1)
COPY_AGAIN = "copy these files again from where the bundle was made, and remove what is not listed"
Seen = dict[str, list[int]]
"""Path of a file → its state when it was hashed."""


def list_problems(folder: Path, files: Iterable[BundledFile], seen: Mapping[str, list[int]] | None = None) -> list[str]:
    """Return what is wrong with a bundle that is to have these files, one line for each problem.

    Files that were `seen` in this state are not hashed. One that is not listed is wrong where installers would take it.
    """
    listed = tuple(files)
    with ThreadPoolExecutor(_HASHERS) as pool:
        found = [*pool.map(lambda file: _describe_problem(folder, file, seen or {}), listed)]
    return [*filter(None, found), *(f"not listed: {path}" for path in find_unlisted(folder, listed))]


def find_unlisted(folder: Path, files: Iterable[BundledFile]) -> list[str]:
    """Return the paths of files and links where installers look in a bundle, other than these files."""
    known = {file.path for file in files}
    places = (path for name in (WHEELS_FOLDER, PAGES_FOLDER) for path in (folder / name).rglob("*"))
    found = (path.relative_to(folder).as_posix() for path in places if path.is_symlink() or not path.is_dir())
    return sorted(path for path in found if path not in known)


def _describe_problem(folder: Path, file: BundledFile, seen: Mapping[str, list[int]]) -> str:
    path = folder / file.path
    try:
        state = path.stat()
        if not path.is_file():
            return f"not a file: {file.path}"
        if state.st_size != file.size:
            how = "truncated" if state.st_size < file.size else "too long"
            return f"{how}: {file.path}: {state.st_size} of {file.size} bytes"
        if seen.get(file.path) == _state(state):
            return ""
        return (
            "" if hash_file(path) == file.sha256 else f"altered: {file.path}: its sha256 is another than the manifest's"
        )
    except (FileNotFoundError, NotADirectoryError):
        return f"missing: {file.path}"
    except (OSError, ValueError) as error:  # a path in a manifest of somebody else's may be any text
        return f"not readable: {file.path!r}: {error.strerror if isinstance(error, OSError) else error}"


def _state(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def raise_problems(folder: Path, problems: list[str], remedy: str) -> None:
    """Raise what is wrong with a bundle: three lines for one problem, a list for several.

    Raises:
        FetchError: There is at least one.
    """
    if not problems:
        return
    if len(problems) == 1:
        raise FetchError(f"damaged bundle: {folder}", cause=problems[0], remedy=remedy)
    listed = "\n".join(f"  {problem}" for problem in problems)
    raise FetchError(f"damaged bundle: {folder}: {count(len(problems), 'file')}", cause=listed, remedy=remedy)


def check_once(folder: Path, manifest: Manifest, cache: Path) -> None:
    """Hold a bundle to its manifest, and note in the cache what was hashed, not to do it again for the same files.

    Raises:
        FetchError: A file is missing, truncated or altered.
    """
    note = cache / "bundles" / f"{_identify(folder)}.json"
    problems = list_problems(folder, manifest.files, seen := _read_seen(note))
    raise_problems(folder, problems, COPY_AGAIN)
    states = {file.path: _state((folder / file.path).stat()) for file in manifest.files}
    if states != seen:
        with suppress(OSError, UsageError):  # a cache that cannot be written only means to hash again
            write_atomically(note, json.dumps(states))


def _identify(folder: Path) -> str:
    """Return the name for a bundle in this state of its manifest."""
    return hashlib.sha256(os.fsencode(folder) + (folder / MANIFEST).read_bytes()).hexdigest()[:32]


def _read_seen(note: Path) -> Seen:
    try:
        return read_json(Seen, note.read_bytes())
    except (OSError, TableError):
        return {}
