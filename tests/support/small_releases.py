# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of small releases, as they are published: wheels, release.json, a document, SHA256SUMS."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.attest.checksums import SUMS_FILENAME, format_sums
from pjrtwheel.attest.release_folder import ReleaseFolder, read_release_folder
from pjrtwheel.dist.release_file import RELEASE_FILENAME, format_entries
from pjrtwheel.files import hash_file
from pjrtwheel.publish.place import Place
from release_entries import entry_of
from small_wheels import build_wheel, describe_wheel


def make_small_release(
    folder: Path, projects: Sequence[str] = ("jaxlib", "jaxlib_abacus"), *, version: str = "1.2.3+split.1"
) -> ReleaseFolder:
    """Write a release of pure wheels; `jaxlib` has each of the others for an extra."""
    folder.mkdir(parents=True)
    entries = {}
    for project in projects:
        name = f"{project}-{version}-py3-none-any.whl"
        others = [other for other in projects if project == "jaxlib" and other != project]
        needs = [f"{other}=={version} ; extra == '{other.removeprefix('jaxlib_')}'" for other in others]
        module = f"{project}.py" if project == "jaxlib" else f"{project}/__init__.py"
        members = {**describe_wheel(name, needs, python=">=3.10"), module: b""}
        path = build_wheel(folder, members, name=name)
        size = path.stat().st_size
        entries[name] = entry_of(name, sha256=hash_file(path), size=size, lock_id=version)
    (folder / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    (folder / "sbom.cdx.json").write_text("{}\n", "utf-8")
    digests = {path.name: hash_file(path) for path in folder.iterdir()}
    (folder / SUMS_FILENAME).write_text(format_sums(digests), "utf-8")
    return read_release_folder(folder)


def send(place: Place, release: ReleaseFolder, *, stop_after: int | None = None) -> None:
    """Send a release in the order of publishing, documents first; or only so many files, as a killed run does."""
    for name in [*release.documents, *sorted(release.wheels, reverse=True)][:stop_after]:
        place.upload(release.path / name, hash_file(release.path / name))
    if stop_after is None:
        place.finish()
