# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of an index, plain HTML without script and JSON.

Installers read HTML (PEP 503, 592, 658, 714, 740) or JSON (PEP 691, 700, 714, 740). People read which chips each wheel
serves, and what was proven.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any
from urllib.parse import quote

from pjrtwheel.dist_folder.release_file import Entry, compiled_chips
from pjrtwheel.dist_folder.summary import describe_level, describe_pythons
from pjrtwheel.products.index.projects import IndexedFile, Project
from pjrtwheel.wheel.names import PROVENANCE_SUFFIX

HTML_PAGE = "index.html"
JSON_PAGE = "index.v1+json"  # what a server sends as JSON_TYPE
JSON_TYPE = "application/vnd.pypi.simple.v1+json"
GENERATOR = '<meta name="generator" content="pjrtwheel index">'
_API = "1.3"  # the first with `provenance` (PEP 740)
ABOUT_PAGE = "about.html"
_COLUMNS = ("wheel", "chips", "proof", "Pythons", "MB", "sha256")
_STYLE = (
    "body{font:16px/1.4 sans-serif;margin:2em}table{border-collapse:collapse}"
    "th,td{border:1px solid #bbb;padding:.3em .6em;text-align:left;vertical-align:top}code{overflow-wrap:anywhere}"
)


def projects_html(projects: Iterable[Project]) -> str:
    """Return the list of all projects as HTML."""
    links = [f'<a href="{quote(project.name)}/">{escape(project.name)}</a>' for project in projects]
    return _html("Simple index", links)


def projects_json(projects: Iterable[Project]) -> str:
    """Return the list of all projects as JSON."""
    return _json({"projects": [{"name": project.name} for project in projects]})


def project_html(project: Project) -> str:
    """Return the list of a project's files as HTML; relative links let the index lie anywhere."""
    return _html(f"Links for {project.name}", [_link(file) for file in project.files])


def project_json(project: Project) -> str:
    """Return the list of a project's files as JSON."""
    return _json(
        {
            "name": project.name,
            "versions": list(project.versions),
            "files": [_file(file) for file in project.files],
        }
    )


def _link(file: IndexedFile) -> str:
    """Return the anchor of a file. `data-dist-info-metadata` is the name under which older pips look (PEP 714)."""
    attributes = {"href": f"{file.link}#sha256={file.sha256}"}
    if file.requires_python:
        attributes["data-requires-python"] = file.requires_python
    if file.metadata:
        digest = f"sha256={hashlib.sha256(file.metadata).hexdigest()}"
        attributes |= {"data-core-metadata": digest, "data-dist-info-metadata": digest}
    if file.yanked is not None:
        attributes["data-yanked"] = file.yanked
    if file.provenance and file.is_absolute:  # the standard has no relative address here
        attributes["data-provenance"] = f"{file.url}{PROVENANCE_SUFFIX}"
    text = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    return f"<a {text}>{escape(file.name)}</a>"


def _file(file: IndexedFile) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "filename": file.name,
        "url": file.link,
        "hashes": {"sha256": file.sha256},
        "size": file.size,
        "yanked": False if file.yanked is None else file.yanked or True,
    }
    if file.requires_python:
        entry["requires-python"] = file.requires_python
    if file.metadata:
        digest = {"sha256": hashlib.sha256(file.metadata).hexdigest()}
        entry |= {"core-metadata": digest, "dist-info-metadata": digest}
    if file.provenance:
        entry["provenance"] = f"{file.link}{PROVENANCE_SUFFIX}"
    return entry


def _html(title: str, links: Iterable[str]) -> str:
    head = f'<meta charset="utf-8">\n<meta name="pypi:repository-version" content="{_API}">\n{GENERATOR}'
    body = "".join(f"{link}<br>\n" for link in links)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n<title>{escape(title)}</title>\n</head>\n'
        f"<body>\n<h1>{escape(title)}</h1>\n{body}</body>\n</html>\n"
    )


def _json(content: dict[str, Any]) -> str:
    return json.dumps({"meta": {"api-version": _API}, **content}, indent=1, sort_keys=True) + "\n"


def projects_about(projects: Iterable[Project]) -> str:
    """Return the page over all projects: one table with a row per wheel."""
    listed = list(projects)
    links = ", ".join(f'<a href="{project.name}/{ABOUT_PAGE}">{escape(project.name)}</a>' for project in listed)
    rows = [row for project in listed for row in _rows(project, f"{project.name}/")]
    return _page("Wheels", f'<p>Projects: {links}. For installers: <a href="{HTML_PAGE}">index</a>.</p>', rows)


def project_about(project: Project) -> str:
    """Return the page of one project."""
    text = (
        f'<p><a href="../{ABOUT_PAGE}">All projects</a>. For installers: <a href="{HTML_PAGE}">files</a>. '
        f"Newest version: {escape(project.versions[-1])}.</p>"
    )
    return _page(project.name, text, _rows(project, ""))


def chips(entry: Entry) -> str:
    """Return what a wheel has machine code for: GPU code, else chips compiled for ahead of time, else the processor."""
    compiled = {chip for proof in entry.proofs() for chip in compiled_chips(proof)}
    platforms = sorted({tag.split("-", 2)[2] for tag in entry.tags})
    return ", ".join(entry.gpu_code or sorted(compiled) or platforms)


def _rows(project: Project, folder: str) -> Iterator[str]:
    files = {file.name: file for file in project.files}
    for entry in project.entries:
        file = files[entry.filename]
        withdrawn = "" if file.yanked is None else f" (withdrawn: {escape(file.yanked or 'no reason given')})"
        cells = (
            f'<a href="{file.link if file.is_absolute else folder + file.link}">{escape(file.name)}</a>{withdrawn}',
            escape(chips(entry)),
            escape(describe_level(entry)),
            escape(describe_pythons(entry)) or "any",
            f"{entry.size / 1e6:.1f}",
            f"<code>{escape(entry.sha256)}</code>",
        )
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"


def _page(title: str, text: str, rows: Iterable[str]) -> str:
    """Return a page with one table, and what its column `proof` means."""
    header = "<tr>" + "".join(f"<th>{column}</th>" for column in _COLUMNS) + "</tr>\n"
    legend = (
        "<p>Proof, on the machine that built the wheel or one with the accelerator. device: programs ran on it. aot: "
        "programs were compiled for named chips that were not there. load: the library was opened. static: files were "
        "checked.</p>"
    )
    head = f'<meta charset="utf-8">\n<title>{escape(title)}</title>\n<style>{_STYLE}</style>'
    body = f"<h1>{escape(title)}</h1>\n{text}\n<table>\n{header}{''.join(rows)}</table>\n{legend}"
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'
