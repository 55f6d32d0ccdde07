# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write a static package index of the wheels in `dist/`, which any web server can serve.

It holds our wheels, unless they have addresses elsewhere, as hard links: no bytes are doubled, and a wheel that is
built anew afterwards does not change an index that is being served. All of it appears at once. What our wheels need of
others is in `closure.py`.

Its pages for installers are HTML (PEP 503, 592, 658, 714, 740) and JSON (PEP 691, 700, 714, 740); those for people are
in `release_pages/`.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

from pjrtwheel import files
from pjrtwheel.errors import UsageError
from pjrtwheel.files import link_or_copy
from pjrtwheel.products.index.closure import ReadClosure
from pjrtwheel.products.index.projects import IndexedFile, Project, list_projects, read_release, read_wrapped
from pjrtwheel.products.index.release_pages import FOLDER, MAIN_PAGE, open_templates, render_pages
from pjrtwheel.products.index.release_pages.releases import list_releases
from pjrtwheel.record.entries import require_record
from pjrtwheel.wheel.names import METADATA_SUFFIX, PROVENANCE_SUFFIX

HTML_PAGE = "index.html"
JSON_PAGE = "index.v1+json"  # what a server sends as application/vnd.pypi.simple.v1+json
_GENERATOR = '<meta name="generator" content="pjrtwheel index">'
_API = "1.3"  # the first with `provenance` (PEP 740)


def write_index(
    dist: Path,
    output: Path,
    yanked: Mapping[str, str] | None = None,
    closure: ReadClosure = lambda _: (),
) -> tuple[tuple[Project, ...], tuple[Project, ...]]:
    """Write the index of a folder with `release.json`, in place of the one before; return its projects and the others.

    Args:
        dist: The folder; its wheels are put next to the pages.
        output: Root of the index.
        yanked: The reason for each wheel that was withdrawn, by file name.
        closure: What finds the other projects that ours need.

    Raises:
        UsageError: There is no `release.json`, or `output` holds something that is no index.
        WheelError: `release.json` or a wheel is damaged, or the disk is full.
        FetchError: The other projects cannot be found.
    """
    require_record(dist)
    with _replacing(output) as index, files.locked(dist):  # or a build could replace a wheel before its link is made
        built = read_release(dist, yanked)
        projects = list_projects([*built, *read_wrapped(dist, built)], f"an index of {dist}")
        others = closure(projects)
        _write(projects, others, index)
    return projects, others


def write_pages(projects: tuple[Project, ...], others: tuple[Project, ...], output: Path) -> None:
    """Write the pages of our projects, whose files have addresses elsewhere, and others, in place of the index before.

    The folder around it sends people on to them, unless it has a page already.

    Raises:
        UsageError: `output` holds something that is no index.
        WheelError: The disk is full.
    """
    with _replacing(output) as index:
        _write(projects, others, index)
    page = output.with_name(HTML_PAGE)
    if not page.exists():
        template, about = open_templates().get_template("simple.html"), f"{output.name}/{MAIN_PAGE}"
        files.write_atomically(page, template.render(project="", links=[], api=_API, generator=_GENERATOR, about=about))


@contextmanager
def _replacing(output: Path) -> Iterator[Path]:
    """Yield the folder of an index, which takes the place of the one before when all of it is written."""
    check_place(output)
    with files.staging_folder(output.parent) as staging:
        yield staging / "index"
        if output.exists():  # for the time of one call there is none
            output.rename(staging / "old")
        (staging / "index").rename(output)


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is an index that was written here; one with an index in it is not, see `write_pages`."""
    page = folder / HTML_PAGE
    return (folder / JSON_PAGE).is_file() and page.is_file() and _GENERATOR in page.read_text("utf-8", errors="replace")


def check_place(output: Path) -> None:
    """Raise a `UsageError` if an index would take the place of something else."""
    if output.exists() and not _is_ours(output) and not (output.is_dir() and not any(output.iterdir())):
        raise UsageError(f"{output} is not an index made here", remedy="give a new folder with --output")


def _link_files(listed: Iterable[Project], index: Path) -> None:
    """Put files next to the pages, without their bytes where the file system allows it."""
    for file in (file for project in listed for file in project.files):
        if file.source and not file.url:
            folder = index / file.project
            folder.mkdir(parents=True, exist_ok=True)
            for suffix in ("", *([PROVENANCE_SUFFIX] if file.provenance else [])):
                link_or_copy(file.source.with_name(f"{file.filename}{suffix}"), folder / f"{file.filename}{suffix}")


def installer_pages(projects: tuple[Project, ...]) -> dict[str, bytes]:
    """Return path → bytes of everything in an index that installers read, but for the wheels."""
    links = [{"filename": project.name, "url": f"{project.name}/"} for project in projects]
    written = _make_pages("", MAIN_PAGE, links, {"projects": [{"name": project.name} for project in projects]})
    releases = reversed(list_releases(projects))
    pages = {wheel.project: f"{FOLDER}/wheels{release.suffix}.html" for release in releases for wheel in release.wheels}
    for project in projects:
        files = [_describe(file) for file in project.files]
        document = {"name": project.name, "versions": list(project.versions), "files": files}
        about = f"{pages[project.name]}#project-{project.name}" if project.name in pages else MAIN_PAGE
        written |= _make_pages(f"{project.name}/", about, files, document)
        for file in project.files:
            if file.metadata and not file.url:
                written[f"{project.name}/{file.filename}{METADATA_SUFFIX}"] = file.metadata
    return written


def _make_pages(folder: str, about: str, links: list[dict[str, Any]], document: dict[str, Any]) -> dict[str, bytes]:
    """Return a page in both forms; the HTML one has the links, each with what JSON says of its file.

    People find more on the page `about`, which the root sends them on to.
    """
    template = open_templates().get_template("simple.html")
    page = template.render(project=folder.rstrip("/"), links=links, api=_API, generator=_GENERATOR, about=about)
    text = json.dumps({"meta": {"api-version": _API}, **document}, indent=1, sort_keys=True)
    return {f"{folder}{HTML_PAGE}": page.encode(), f"{folder}{JSON_PAGE}": f"{text}\n".encode()}


def _describe(file: IndexedFile) -> dict[str, Any]:
    """Return what JSON says of a file. `dist-info-metadata` is the name under which older pips look (PEP 714)."""
    found: dict[str, Any] = {
        "filename": file.filename,
        "url": file.link,  # a relative one lets the index lie anywhere
        "hashes": {"sha256": file.sha256},
        **({"size": file.size} if file.size else {}),
        "yanked": False if file.yanked is None else file.yanked or True,
    }
    if file.requires_python:
        found["requires-python"] = file.requires_python
    if file.metadata or file.metadata_sha256:
        digest = {"sha256": file.metadata_sha256 or hashlib.sha256(file.metadata).hexdigest()}
        found |= {"core-metadata": digest, "dist-info-metadata": digest}
    if file.provenance:
        found["provenance"] = f"{file.link}{PROVENANCE_SUFFIX}"
    return found


def _write(projects: tuple[Project, ...], others: tuple[Project, ...], folder: Path) -> None:
    """Write pages and files durably, before the folder gets its name; pages for people are about our projects alone."""
    listed = tuple(sorted((*projects, *others), key=attrgetter("name")))
    _link_files(listed, folder)
    for path, data in (installer_pages(listed) | render_pages(projects)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
