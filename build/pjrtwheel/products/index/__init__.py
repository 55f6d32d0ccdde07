# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write a static package index of the wheels in `dist/`, which any web server can serve.

The folder is complete: it holds the wheels as hard links, so no bytes are doubled, and a wheel that is built anew
afterwards does not change an index that is being served. All of it appears at once.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

from pjrtwheel import files
from pjrtwheel.errors import UsageError
from pjrtwheel.files import copy_atomically
from pjrtwheel.products.index import pages
from pjrtwheel.products.index.projects import Project, read_projects

_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_HERE = -100  # AT_FDCWD


def write_index(dist: Path, output: Path) -> tuple[Project, ...]:
    """Write the index of a folder with `release.json`, in place of the one before, and return its projects.

    Raises:
        UsageError: There is no `release.json`, or `output` holds something that is no index.
        WheelError: `release.json` or a wheel is damaged, or the disk is full.
    """
    _check_place(output)
    if not dist.is_dir():
        raise UsageError(f"{dist} is no folder", remedy="build wheels first, or give their folder with --dist")
    output.parent.mkdir(parents=True, exist_ok=True)
    with files.staging_folder(output.parent) as folder:
        finished = folder / "index"
        with files.locked(dist):  # or a build could replace a wheel between its check and its link
            projects = read_projects(dist)
            for project in projects:
                _link_files(project, dist, finished / project.name)
        _write_pages(_all_pages(projects), finished)
        _replace_folder(finished, output)
    return projects


def _check_place(output: Path) -> None:
    page = output / pages.HTML_PAGE
    ours = page.is_file() and pages.GENERATOR in page.read_text("utf-8", errors="replace")
    if output.exists() and not ours and not (output.is_dir() and not any(output.iterdir())):
        raise UsageError(f"{output} is not an index made here", remedy="give a new folder with --output")


def _link_files(project: Project, dist: Path, folder: Path) -> None:
    """Put a project's files next to its pages, without their bytes where the file system allows it."""
    folder.mkdir(parents=True)
    for file in project.files:
        try:
            os.link(dist / file.name, folder / file.name)
        except OSError:  # another disk, or a file system without hard links
            copy_atomically(dist / file.name, folder / file.name)


def _all_pages(projects: tuple[Project, ...]) -> dict[str, bytes]:
    written = {
        pages.HTML_PAGE: pages.projects_html(projects),
        pages.JSON_PAGE: pages.projects_json(projects),
        pages.ABOUT_PAGE: pages.projects_about(projects),
    }
    for project in projects:
        written[f"{project.name}/{pages.HTML_PAGE}"] = pages.project_html(project)
        written[f"{project.name}/{pages.JSON_PAGE}"] = pages.project_json(project)
        written[f"{project.name}/{pages.ABOUT_PAGE}"] = pages.project_about(project)
    metadata = {
        f"{project.name}/{file.name}{pages.METADATA_SUFFIX}": file.metadata
        for project in projects
        for file in project.files
        if file.metadata
    }
    return {path: text.encode() for path, text in written.items()} | metadata


def _write_pages(contents: Mapping[str, bytes], folder: Path) -> None:
    """Write the pages durably, before the folder gets its name."""
    for path, data in contents.items():
        with (folder / path).open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _replace_folder(finished: Path, place: Path) -> None:
    """Give a folder its place; what was there before lies at the finished one's old path, for the caller to remove.

    Readers see the old folder or the new one. Where the file system cannot exchange (some network ones), the place is
    empty for a moment.
    """
    if not place.exists():
        finished.rename(place)
    elif not _exchange(finished, place):
        aside = finished.with_name(f"{finished.name}.old")
        place.rename(aside)
        finished.rename(place)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two paths; return whether this system can."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # glibc before 2.28
        return False
    status: int = renameat2(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE)
    return status == 0
