# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of an index for installers, as HTML (PEP 503, 592, 658, 714, 740) and JSON (PEP 691, 700, 714, 740).

Those for people are in `release_pages/`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from html import escape
from typing import Any
from urllib.parse import quote

from pjrtwheel.products.index.projects import IndexedFile, Project
from pjrtwheel.wheel.names import PROVENANCE_SUFFIX

HTML_PAGE = "index.html"
JSON_PAGE = "index.v1+json"  # what a server sends as JSON_TYPE
JSON_TYPE = "application/vnd.pypi.simple.v1+json"
GENERATOR = '<meta name="generator" content="pjrtwheel index">'
_API = "1.3"  # the first with `provenance` (PEP 740)


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
