# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages that people read: which chips each wheel serves, and what was proven. Plain HTML, no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from pjrtwheel.products.index.pages import HTML_PAGE
from pjrtwheel.products.index.projects import Project
from pjrtwheel.publish.release_file import Entry
from pjrtwheel.publish.summary import describe_level, describe_pythons

ABOUT_PAGE = "about.html"
_COLUMNS = ("wheel", "chips", "proof", "Pythons", "MB", "sha256")
_STYLE = (
    "body{font:16px/1.4 sans-serif;margin:2em}table{border-collapse:collapse}"
    "th,td{border:1px solid #bbb;padding:.3em .6em;text-align:left;vertical-align:top}code{overflow-wrap:anywhere}"
)


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
    compiled = {target.name for proof in entry.proofs() for target in proof.targets if target.code}
    platforms = sorted({tag.split("-", 2)[2] for tag in entry.tags})
    return ", ".join(entry.gpu_code or sorted(compiled) or platforms)


def _rows(project: Project, folder: str) -> Iterator[str]:
    """Yield a row per wheel."""
    for entry in project.entries:
        name = escape(entry.filename)
        cells = (
            f'<a href="{folder}{name}">{name}</a>',
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
