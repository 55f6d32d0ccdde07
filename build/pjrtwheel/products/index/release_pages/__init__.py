# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of an index for people: how to install, what was proven, how large it is, and one page for each wheel.

They are plain files next to the pages for installers, with one style sheet and few scripts, work from a disk, ask for
nothing else, and say everything without a script. Jinja2 escapes whatever comes from a release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from itertools import groupby
from typing import Any

import jinja2

from pjrtwheel.products.index.projects import Project
from pjrtwheel.products.index.release_pages import comparison, proof_map
from pjrtwheel.products.index.release_pages.comparison import Measured
from pjrtwheel.products.index.release_pages.releases import Release, Wheel, list_releases
from pjrtwheel.products.index.release_pages.templating import open_templates

MAIN_PAGE = "about.html"
FOLDER = "about_files"  # never the name of a project: those have no underscore (PEP 503)
_STATIC = ("about.css", "about.js", "python.js", "selector.js")
_PAGES = ("proofs", "sizes", "wheels")  # of each release, in the order of the menu, after the page to install from


def is_release_page(path: str) -> bool:
    """Return whether a path of an index is one of these pages, which no installer reads."""
    return path == MAIN_PAGE or path.startswith(f"{FOLDER}/")


def render_pages(projects: Iterable[Project], measured: Measured | None = None) -> dict[str, bytes]:
    """Return path → bytes of all pages for people; the same input gives the same bytes."""
    # The selector is needed to write pages, and not to publish wheels, nor to read what an index holds.
    from pjrtwheel.products.index.release_pages.install_page import render_install_page  # noqa: PLC0415

    releases = list_releases(projects)
    templates = open_templates()
    templates.globals["menu"] = _PAGES
    measured = measured or Measured()
    places = {"base": f"{FOLDER}/", "home": MAIN_PAGE}
    written = {MAIN_PAGE: render_install_page(templates, releases, releases[0] if releases else None, **places)}
    for release in releases:
        if not release.newest:
            text = render_install_page(templates, releases, release, base="", home=f"../{MAIN_PAGE}")
            written[f"{FOLDER}/install{release.suffix}.html"] = text
        for name, text in _pages_of(templates, release, releases, measured):
            written[f"{FOLDER}/{name}"] = text
    static = files(__package__).joinpath("static")
    contents = {f"{FOLDER}/{name}": static.joinpath(name).read_bytes() for name in _STATIC}
    return contents | {path: text.encode() for path, text in written.items()}


def _pages_of(
    templates: jinja2.Environment, release: Release, releases: tuple[Release, ...], measured: Measured
) -> Iterator[tuple[str, str]]:
    """Yield the pages of one release, and those of its wheels, by file name."""
    shared: Mapping[str, Any] = {"base": "", "home": f"../{MAIN_PAGE}", "releases": releases, "release": release}
    views: dict[str, dict[str, Any]] = {
        "proofs": {"maps": proof_map.plugin_maps(release), "bindings": proof_map.bindings_map(release)},
        "sizes": _sizes(release, measured),
        "wheels": {"projects": [(name, list(group)) for name, group in groupby(release.wheels, lambda w: w.project)]},
    }
    for name in _PAGES:
        text = templates.get_template(f"{name}.html").render(page=name, **shared, **views[name])
        yield f"{name}{release.suffix}.html", text
    page = templates.get_template("wheel.html")
    for wheel in release.wheels:
        if release.newest or wheel.entry.version == release.version:  # wheels of no release are there once
            yield wheel.page, page.render(page="wheel", wheel=wheel, **shared)


def _sizes(release: Release, measured: Measured) -> dict[str, Any]:
    codes, found = comparison.findings(measured)
    return {
        "comparisons": comparison.compare(measured),
        "measured_versions": comparison.measured_versions(measured),
        "codes": codes,
        "findings": found,
        "meanings": list(comparison.meanings(codes)),
        "gpu_code": comparison.gpu_code(measured),
        "largest": max((wheel.entry.size for wheel in release.wheels), default=1),
        "own": _own_sizes(release),
    }


def _own_sizes(release: Release) -> list[Wheel]:
    """Return one wheel of each project and system, the largest, for the bars of what this release weighs."""
    found: dict[tuple[str, str], Wheel] = {}
    for wheel in release.wheels:
        key = wheel.project, wheel.system
        if (wheel.is_plugin or wheel.is_bindings) and wheel.entry.size > (found[key].entry.size if key in found else 0):
            found[key] = wheel
    return list(found.values())
