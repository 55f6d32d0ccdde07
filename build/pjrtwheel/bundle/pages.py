# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The package index inside a bundle: pages on the disk that pip and uv read by a `file:` address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from pjrtwheel.bundle.manifest import PAGES_FOLDER, BundledFile, Kind
from pjrtwheel.fetch.bundled import WHEELS_FOLDER
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.products.index.pages import HTML_PAGE, project_html, projects_html
from pjrtwheel.products.index.projects import IndexedFile, Project
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.read.directory import open_wheel


def write_pages(folder: Path, wheels: Iterable[BundledFile]) -> Iterator[BundledFile]:
    """Write an index on the disk (PEP 503), whose links lead to the wheels with their hashes, and yield its pages."""
    by_project: dict[str, list[IndexedFile]] = {}
    for wheel in sorted(wheels, key=lambda file: file.path):
        path = folder / wheel.path
        requires = read_field(_read_metadata(path), "Requires-Python")
        url = f"../../{WHEELS_FOLDER}/{quote(path.name)}"
        listed = IndexedFile(path.name, wheel.sha256, wheel.size, "".join(requires[:1]), url=url)
        by_project.setdefault(parse_name(path.name).distribution, []).append(listed)
    projects = [Project(name, (), tuple(files), ()) for name, files in sorted(by_project.items())]
    pages = {f"{project.name}/{HTML_PAGE}": project_html(project) for project in projects}
    for name, text in {HTML_PAGE: projects_html(projects), **pages}.items():
        write_atomically(folder / PAGES_FOLDER / name, text)
        yield describe_file(folder, f"{PAGES_FOLDER}/{name}", Kind.PAGE)


def _read_metadata(wheel: Path) -> str:
    """Return the METADATA of anybody's wheel, in whose folder names may be spelled differently than in its own name."""
    with open_wheel(wheel) as archive:
        found = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA") and name.count("/") == 1)
        member = next(found, "")
        return archive.read(member).decode("utf-8") if member else ""


def describe_file(folder: Path, path: str, kind: Kind) -> BundledFile:
    """Return the entry of a file as it lies there."""
    return BundledFile(kind, path, (folder / path).stat().st_size, hash_file(folder / path))
