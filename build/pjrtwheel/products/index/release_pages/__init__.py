# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of an index for people: how to install, what was proven, how large it is, and one page for each wheel.

They are plain files next to the pages for installers, work from a disk, ask for nothing else, and say everything
without a script. Jinja2 escapes whatever comes from a release, and browsers run nothing but the script of `static/`:
style sheet and script are in each page, whose policy names their hashes, because a hash admits no file next to it.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from importlib.resources import files
from urllib.parse import quote

import jinja2
import markupsafe

from pjrtwheel.abis import name_python, name_pythons
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.grouping import group
from pjrtwheel.products.index.projects import Project
from pjrtwheel.products.index.release_pages.releases import list_releases, make_maps
from pjrtwheel.products.index.release_pages.sizes import compare_sizes
from pjrtwheel.record.proofs import COMPILED

MAIN_PAGE = "about.html"
FOLDER = "about_files"  # never the name of a project: those have no underscore (PEP 503)
_PAGES = ("proofs", "sizes", "wheels")  # of each release, in the order of the menu, after the page to install from


def render_pages(projects: Sequence[Project]) -> dict[str, bytes]:
    """Return path → bytes of all pages for people; the same input gives the same bytes.

    Raises:
        UsageError: What a backend offers to the picker is malformed.
    """
    # The selector is needed to write pages, and not to publish wheels, nor to read what an index holds.
    from pjrtwheel.products.index.release_pages import picker  # noqa: PLC0415
    from pjrtwheel.products.index.release_pages.form import read_form  # noqa: PLC0415
    from pjrtwheel.products.index.release_pages.stock import stock_of  # noqa: PLC0415

    releases, form, templates = list_releases(projects), read_form(), open_templates()
    known = [release for release in releases if picker.is_known(release)]
    table = picker.make_table(form, [stock_of(release) for release in known]) if known else {}
    templates.filters |= {"quote": picker.quote, "machines_of": picker.group_machines}
    templates.globals |= {"menu": _PAGES, "releases": releases, "base": "", "home": f"../{MAIN_PAGE}", **_read_static()}
    templates.globals |= {"table": table, "systems": form.systems, "known": known, "compiled_for": COMPILED}
    proofs = {release.jax: f"{FOLDER}/proofs{release.suffix}.html" for release in releases}
    wrapped = [project for project in projects if not any(file.entry for file in project.files)]
    install, page = templates.get_template("install.html"), templates.get_template("wheel.html")
    here = {"page": "install", "base": f"{FOLDER}/", "home": MAIN_PAGE, "pages": proofs, "wrapped": wrapped}
    pages = {MAIN_PAGE: install.render(here)}
    labels = group((target, accelerator.label) for accelerator in form.accelerators for target in accelerator.targets)
    families = {target: " or ".join(named) for target, named in labels.items()}
    for release in releases:
        views = {"release": release, "maps": make_maps(release, families), "sizes": compare_sizes(OWN_ROOT, release)}
        for name in _PAGES:
            text = templates.get_template(f"{name}.html").render(page=name, **views)
            pages[f"{FOLDER}/{name}{release.suffix}.html"] = text
        for wheel in release.wheels:
            if release.newest or wheel.entry.version == release.version:  # wheels of no release are there once
                pages[f"{FOLDER}/{wheel.page}"] = page.render(page="wheel", wheel=wheel, release=release)
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


def name_anchor(text: str) -> str:
    """Return what an address names a place on a page by.

    >>> name_anchor("Intel(R) Xeon(R) @ 2.9 GHz, Müller™")
    'intel-r-xeon-r-2.9-ghz-m-ller'
    """
    return re.sub(r"[^a-z0-9_.]+", "-", text.lower()).strip("-")


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
    templates.filters |= {"url": quote, "python": name_python, "pythons": name_pythons, "anchor": name_anchor}
    return templates
