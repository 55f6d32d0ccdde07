# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Folders with one small release, as they are published: wheels, `release.json`, a document, `SHA256SUMS`."""

import hashlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pjrtwheel.attest.make import make_bom
from pjrtwheel.attest.release_folder import SUMS_FILENAME, ReleaseFolder, format_sums, read_release_folder
from pjrtwheel.attest.release_set import ReleaseSet
from pjrtwheel.attest.signature import format_envelope
from pjrtwheel.attest.statement import BOM_FILENAME, STATEMENT_FILENAME, make_statement
from pjrtwheel.files import hash_file
from pjrtwheel.publish.destinations import Destination, DestinationKind, Place
from pjrtwheel.publish.publication import Publication
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries
from pjrtwheel.sets.tags import tag_of_wheel
from pjrtwheel.tables import write_json
from pjrtwheel.wheel.names import parse_name
from release_entries import NO_PROOF, entry_at, origin_of
from small_wheels import build_wheel, describe_wheel

COMMIT = "1" * 40
PLUGIN_TAG = "cp312-abi3-manylinux_2_27_x86_64"
# Two Pythons, two plugins.
WHEELS = (
    *(f"jaxlib-1.2.3+split.1-{python}-{python}-manylinux_2_27_x86_64.whl" for python in ("cp312", "cp313")),
    *(f"jaxlib_{name}-1.2.3+split.1-{PLUGIN_TAG}.whl" for name in ("abacus", "bead")),
)
SELECTOR_WHEEL = "jaxlib_select-0.1.0-py3-none-any.whl"


def write_release_folder(
    folder: Path, wheels: Sequence[str] = WHEELS, *, content: bytes = b"", **facts: Any
) -> ReleaseFolder:
    """Write small wheels, and what lists them.

    Args:
        folder: A new folder.
        wheels: File names of the wheels.
        content: What a member of each wheel is made from: folders with another one have other bytes.
        facts: What is said of the wheels; see `list_release`.
    """
    folder.mkdir(parents=True)
    for name in wheels:
        filling = hashlib.shake_256(content + name.encode()).digest(4096)  # so that half an upload has the name in it
        members = {**describe_wheel(name), f"{name.partition('-')[0]}/content": filling}
        build_wheel(folder, members, name=name)
    return list_release(folder, **facts)


def write_pure_release(
    folder: Path, projects: Sequence[str] = ("jaxlib", "jaxlib_abacus"), *, version: str = "1.2.3+split.1"
) -> ReleaseFolder:
    """Write pure wheels that can be installed, with a document; `jaxlib` has each of the others for an extra."""
    folder.mkdir(parents=True)
    for project in projects:
        name = f"{project}-{version}-py3-none-any.whl"
        others = [other for other in projects if project == "jaxlib" and other != project]
        needs = [f"{other}=={version} ; extra == '{other.removeprefix('jaxlib_')}'" for other in others]
        module = f"{project}.py" if project == "jaxlib" else f"{project}/__init__.py"
        build_wheel(folder, {**describe_wheel(name, needs, python=">=3.10"), module: b""}, name=name)
    return list_release(folder, lock_id=version)


def list_release(
    folder: Path, *, commit: str = COMMIT, dirty: bool = False, lock_id: str = "", requires: Sequence[str] = ()
) -> ReleaseFolder:
    """Write all documents of the files in a folder, whose wheels nothing was proven of.

    Args:
        folder: The folder.
        commit: Where the wheels were built and proven.
        dirty: Whether there were changes on top of it.
        lock_id: Their lock.
        requires: What each of them requires, as `release.json` says.
    """
    origin = origin_of(commit, dirty=dirty)
    same = {"lock_id": lock_id, "requires": tuple(requires), "proof": replace(NO_PROOF, origin=origin), "built": origin}
    listed = tuple(entry_at(path, **same) for path in sorted(folder.glob("*.whl")))
    (folder / RELEASE_FILENAME).write_text(format_entries({entry.filename: entry for entry in listed}), "utf-8")
    made = {SUMS_FILENAME, BOM_FILENAME, STATEMENT_FILENAME}
    sums = {path.name: hash_file(path) for path in folder.iterdir() if path.name not in made}
    found = ReleaseSet(tag_of_wheel(parse_name(listed[0].filename)), listed[0].version, None, listed)
    (folder / BOM_FILENAME).write_bytes(make_bom(found, folder))
    sums[BOM_FILENAME] = hash_file(folder / BOM_FILENAME)
    statement = write_json(make_statement(found, folder, sums, origin, {})).encode()
    (folder / STATEMENT_FILENAME).write_bytes(format_envelope(statement, None))
    sums[STATEMENT_FILENAME] = hash_file(folder / STATEMENT_FILENAME)
    (folder / SUMS_FILENAME).write_text(format_sums(sums), "utf-8")
    return read_release_folder(folder)


def send(place: Place, release: ReleaseFolder, *, stop_after: int | None = None) -> None:
    """Send a release with the METADATA of its wheels, documents first; or only so many files, as a killed run does."""
    destination = Destination(DestinationKind.FOLDER, "folder", "a folder", variants=True)
    with tempfile.TemporaryDirectory() as scratch:
        publication = Publication(destination, place, release, Path(scratch))
        place.begin(release.commit)
        order = sorted(publication.files, key=lambda file: (bool(file.project), file.project == "jaxlib", file.name))
        for file in order[:stop_after]:
            place.upload(file.path, file.sha256)
    if stop_after is None:
        place.finish()


def all_names(release: ReleaseFolder) -> set[str]:
    """Return the names of all files of a release where METADATA lies next to its wheels."""
    return {*release.documents, *release.wheels, *(f"{name}.metadata" for name in release.wheels)}


def read_page(site: Path, project: str = "jaxlib-abacus") -> list[dict[str, Any]]:
    """Return the files that the static index in a folder has of a project."""
    files: list[dict[str, Any]] = json.loads((site / f"simple/{project}/index.v1+json").read_text())["files"]
    return files
