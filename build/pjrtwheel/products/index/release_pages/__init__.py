# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of an index for people: how to install, what was proven, how large it is, and one page for each wheel.

They are plain files next to the pages for installers, work from a disk, ask for nothing else, and say everything
without a script. Jinja2 escapes whatever comes from a release, and browsers run nothing but the script of `static/`:
style sheet and script are in each page, whose policy names their hashes, because a hash admits no file next to it.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import markupsafe

from pjrtwheel.abis import name_python
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.products.index.projects import Project
from pjrtwheel.products.index.release_pages.releases import ListedRelease, Wheel, list_releases, make_maps
from pjrtwheel.release import known

MAIN_PAGE = "about.html"
FOLDER = "about_files"  # never the name of a project: those have no underscore (PEP 503)
_PAGES = ("proofs", "sizes", "wheels")  # of each release, in the order of the menu, after the page to install from


def render_pages(projects: Iterable[Project]) -> dict[str, bytes]:
    """Return path → bytes of all pages for people; the same input gives the same bytes.

    Raises:
        UsageError: What a backend offers to the picker is malformed.
    """
    releases = list_releases(projects)
    templates = open_templates()
    templates.globals |= {"menu": _PAGES, "releases": releases, "base": "", "home": f"../{MAIN_PAGE}", **_read_static()}
    pages = {MAIN_PAGE: _install_page(templates, releases)}
    for release in releases:
        pages |= {f"{FOLDER}/{name}": text for name, text in _pages_of(templates, release)}
    return {path: text.encode() for path, text in pages.items()}


def _read_static() -> dict[str, str]:
    """Return the style sheet, the script, and the policy that admits these two and nothing else (CSP 3)."""
    static = files(__package__).joinpath("static")
    names = ((f"{name}.{kind}" for name in ("picker", "about")) for kind in ("css", "js"))
    style, script = ("".join(static.joinpath(name).read_text("utf-8") for name in of_kind) for of_kind in names)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    policy = "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:".format(*hashes)
    policy += "; base-uri 'none'; form-action 'none'"
    return {"style": markupsafe.Markup(style), "script": markupsafe.Markup(script), "policy": policy}  # noqa: S704 ours


def open_templates() -> jinja2.Environment:
    """Return the templates of an index; whatever they are given is escaped, and a name that they lack is an error."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {"url": quote, "python": name_python}
    return templates


def _install_page(templates: jinja2.Environment, releases: tuple[ListedRelease, ...]) -> str:
    """Return the page to install from, where people start."""
    # The selector is needed to write pages, and not to publish wheels, nor to read what an index holds.
    from pjrtwheel.products.index.release_pages import picker  # noqa: PLC0415

    templates.filters["quote"] = picker.quote
    stocks = [picker.stock_of(release) for release in releases if picker.is_known(release)]
    views = {
        "table": picker.make_table(picker.read_offer(), stocks) if stocks else {},
        "unknown": [release for release in releases if not picker.is_known(release)],
        "release": next(iter(releases), None),
        "pages": {release.jax: f"{FOLDER}/proofs{release.suffix}.html" for release in releases},
    }
    return templates.get_template("install.html").render(page="install", base=f"{FOLDER}/", home=MAIN_PAGE, **views)


def _pages_of(templates: jinja2.Environment, release: ListedRelease) -> Iterator[tuple[str, str]]:
    """Yield the other pages of one release, and those of its wheels, by file name."""
    views: dict[str, dict[str, Any]] = {
        "proofs": {"maps": make_maps(release)},
        "sizes": {"upstream": upstream_sizes(OWN_ROOT, release.jax), "own": _largest_wheels(release)},
        "wheels": {},
    }
    for name in _PAGES:
        text = templates.get_template(f"{name}.html").render(page=name, release=release, **views[name])
        yield f"{name}{release.suffix}.html", text
    page = templates.get_template("wheel.html")
    for wheel in release.wheels:
        if release.newest or wheel.entry.version == release.version:  # wheels of no release are there once
            yield wheel.page, page.render(page="wheel", wheel=wheel, release=release)


def upstream_sizes(root: Path, jax: str) -> dict[str, int]:
    """Return the size of each file of upstream that the wheels of a release are made of, by its sha256."""
    pins = known.load_release(root, jax).pins if jax in known.list_releases(root) else {}
    return {pin.sha256: pin.size for pin in pins.values()}


def _largest_wheels(release: ListedRelease) -> list[Wheel]:
    """Return one wheel of each plugin or the bindings and system, the largest."""
    by_size = sorted(release.wheels, key=lambda wheel: wheel.entry.size)
    found = {(wheel.project, wheel.system): wheel for wheel in by_size if wheel.entry.has_library}
    return sorted(found.values(), key=lambda wheel: wheel.order)
