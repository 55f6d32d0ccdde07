# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages that installers read: HTML (PEP 503, 658, 714) and JSON (PEP 691, 700, 714)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from html import escape
from typing import Any
from urllib.parse import quote

from pjrtwheel.products.index.projects import IndexedFile, Project

HTML_PAGE = "index.html"
JSON_PAGE = "index.v1+json"  # what a server sends as JSON_TYPE
JSON_TYPE = "application/vnd.pypi.simple.v1+json"
METADATA_SUFFIX = ".metadata"
GENERATOR = '<meta name="generator" content="pjrtwheel index">'
_API = "1.1"


def projects_html(projects: Iterable[Project]) -> str:
    """Return the list of all projects as HTML."""
    links = [f'<a href="{quote(project.name)}/">{escape(project.name)}</a>' for project in projects]
    return _html("Simple index", links)


def projects_json(projects: Iterable[Project]) -> str:
    """Return the list of all projects as JSON."""
    return _json({"projects": [{"name": project.name} for project in projects]})


def project_html(project: Project) -> str:
    """Return the list of a project's files as HTML; links are relative, so the index may lie anywhere."""
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
    attributes = {"href": f"{quote(file.name)}#sha256={file.sha256}"}
    if file.requires_python:
        attributes["data-requires-python"] = file.requires_python
    if file.metadata:
        digest = f"sha256={hashlib.sha256(file.metadata).hexdigest()}"
        attributes |= {"data-core-metadata": digest, "data-dist-info-metadata": digest}
    text = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    return f"<a {text}>{escape(file.name)}</a>"


def _file(file: IndexedFile) -> dict[str, Any]:
    """Return the JSON object of a file."""
    entry: dict[str, Any] = {
        "filename": file.name,
        "url": quote(file.name),
        "hashes": {"sha256": file.sha256},
        "size": file.size,
        "yanked": False,
    }
    if file.requires_python:
        entry["requires-python"] = file.requires_python
    if file.metadata:
        digest = {"sha256": hashlib.sha256(file.metadata).hexdigest()}
        entry |= {"core-metadata": digest, "dist-info-metadata": digest}
    return entry


def _html(title: str, links: Iterable[str]) -> str:
    """Return a page of links."""
    head = f'<meta charset="utf-8">\n<meta name="pypi:repository-version" content="{_API}">\n{GENERATOR}'
    body = "".join(f"{link}<br>\n" for link in links)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n<title>{escape(title)}</title>\n</head>\n'
        f"<body>\n<h1>{escape(title)}</h1>\n{body}</body>\n</html>\n"
    )


def _json(content: dict[str, Any]) -> str:
    """Return the text of a JSON page: sorted keys, final newline."""
    return json.dumps({"meta": {"api-version": _API}, **content}, indent=1, sort_keys=True) + "\n"
