# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Folders with one small release, as they are published: wheels, `release.json`, a document, `SHA256SUMS`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.attest.checksums import SUMS_FILENAME, format_sums
from pjrtwheel.attest.release_folder import ReleaseFolder, read_release_folder
from pjrtwheel.dist_folder.release_file import RELEASE_FILENAME, format_entries
from pjrtwheel.files import hash_file
from pjrtwheel.prove.level import Level
from pjrtwheel.prove.origin import Origin
from pjrtwheel.prove.results import Proof
from pjrtwheel.publish.place import Place
from release_entries import entry_of
from small_wheels import build_wheel, describe_wheel

COMMIT = "1" * 40
PLUGIN_TAG = "cp312-abi3-manylinux_2_27_x86_64"
# Two Pythons, two plugins.
WHEELS = (
    "jaxlib-1.2.3+split.1-cp312-cp312-manylinux_2_27_x86_64.whl",
    "jaxlib-1.2.3+split.1-cp313-cp313-manylinux_2_27_x86_64.whl",
    f"jaxlib_abacus-1.2.3+split.1-{PLUGIN_TAG}.whl",
    f"jaxlib_bead-1.2.3+split.1-{PLUGIN_TAG}.whl",
)
SELECTOR_WHEEL = "jaxlib_select-0.1.0-py3-none-any.whl"


def write_release_folder(
    folder: Path, wheels: Sequence[str] = WHEELS, *, content: bytes = b"", commit: str = COMMIT
) -> ReleaseFolder:
    """Write small wheels, and what lists them.

    Args:
        folder: A new folder.
        wheels: File names of the wheels.
        content: What a member of each wheel is made from: folders with another one have other bytes.
        commit: Where the wheels were built and proven.
    """
    folder.mkdir(parents=True)
    for name in wheels:
        filling = hashlib.shake_256(content + name.encode()).digest(4096)  # so that half an upload has the name in it
        members = {**describe_wheel(name), f"{name.partition('-')[0]}/content": filling}
        build_wheel(folder, members, name=name)
    return list_release(folder, commit=commit)


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
    (folder / "sbom.cdx.json").write_text("{}\n", "utf-8")
    return list_release(folder, lock_id=version)


def list_release(folder: Path, *, commit: str = COMMIT, lock_id: str = "") -> ReleaseFolder:
    """Write `release.json` and `SHA256SUMS` of the files in a folder, whose wheels nothing was proven of."""
    origin = Origin(commit, dirty=False, version="0.1.0", date="2026-11-22T00:00:00Z")
    same = {"lock_id": lock_id, "proof": Proof(Level.STATIC, None, (), origin), "built": origin}
    entries = {
        path.name: entry_of(path.name, sha256=hash_file(path), size=path.stat().st_size, **same)
        for path in folder.glob("*.whl")
    }
    (folder / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    sums = {path.name: hash_file(path) for path in folder.iterdir() if path.name != SUMS_FILENAME}
    (folder / SUMS_FILENAME).write_text(format_sums(sums), "utf-8")
    return read_release_folder(folder)


def send(place: Place, release: ReleaseFolder, *, stop_after: int | None = None) -> None:
    """Send a release in the order of publishing, documents first; or only so many files, as a killed run does."""
    for name in [*release.documents, *sorted(release.wheels, reverse=True)][:stop_after]:
        place.upload(release.path / name, hash_file(release.path / name))
    if stop_after is None:
        place.finish()
