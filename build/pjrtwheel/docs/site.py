# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site of `docs/`: how it is built, and what `docs/conf.py` adds to Sphinx.

Every warning is an error, and only the check of links uses the network.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from jaxlib_select.facts import known_releases
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.errors import UsageError, count
from pjrtwheel.products.index.release_pages import open_templates
from pjrtwheel.products.index.release_pages.form import read_form
from pjrtwheel.products.index.release_pages.picker import make_table
from pjrtwheel.products.index.release_pages.stock import stock_pinned

_SOURCE = "docs"
_EXAMPLE = "https://wheels.example.org/simple/"
_PROOFS = "explanation/proof-levels.html"
_LOGGER = logging.getLogger(__name__)


def build_site(root: Path, output: Path) -> None:
    """Write the site into a folder, whole or not at all; an older site there is replaced.

    Raises:
        UsageError: A page has a mistake; the folder is as it was.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".site-") as scratch:
        built = Path(scratch) / "html"
        if _run_sphinx("html", root, built, Path(scratch) / "trees"):
            raise UsageError("the documentation has mistakes", remedy="see above; nothing was written")
        shutil.rmtree(output, ignore_errors=True)
        built.rename(output)
    print(f"{count(len(list(output.rglob('*.html'))), 'page')}: {output / 'index.html'}")


def check_links(root: Path) -> int:
    """Ask each foreign address that a page links to, and return 1 if one does not answer."""
    with tempfile.TemporaryDirectory() as scratch:
        return min(1, _run_sphinx("linkcheck", root, Path(scratch) / "links", Path(scratch) / "trees"))


def _run_sphinx(builder: str, root: Path, output: Path, trees: Path) -> int:
    options = ["--fail-on-warning", "--nitpicky", "--quiet", f"--builder={builder}", f"--doctree-dir={trees}"]
    command = [sys.executable, "-P", "-m", "sphinx", *options, str(root / _SOURCE), str(output)]
    return subprocess.run(command, check=False).returncode


class RepositoryLinks(SphinxTransform):
    """Replace links of a page to files outside of `docs/`, which work on GitHub as they are.

    A README leads to the page that is named like its folder. Another file leads to GitHub if the workflow says which
    repository this is; otherwise the site shows the text alone.
    """

    default_priority: ClassVar[int] = 5

    def apply(self, **_: object) -> None:
        """Replace all of them, and warn of those that lead nowhere."""
        for node, path, anchor in list(self._find_links()):
            if path.exists():
                node.replace_self(self._link(node, path, anchor))
            else:
                _LOGGER.warning("no such file: %s", path, location=node)

    def _find_links(self) -> Iterator[tuple[nodes.Element, Path, str]]:
        """Yield each link that leads out, with the file and the anchor that it means."""
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for kind in (addnodes.pending_xref, addnodes.download_reference):
            for node in self.document.findall(kind):
                if node.get("reftype") != "myst":
                    continue
                target, _, anchor = str(node["reftarget"]).partition("#")
                if node.get("refdomain") == "doc":  # MyST has looked the file up, and taken its suffix off
                    target, anchor = str(self.env.doc2path(target)), node.get("reftargetid") or ""
                path = Path(os.path.normpath(folder / target))
                if target and not path.is_relative_to(self.env.srcdir):
                    yield node, path, anchor

    def _link(self, node: nodes.Element, path: Path, anchor: str) -> nodes.Element:
        place = path.relative_to(Path(self.env.srcdir).parent).as_posix()
        if (page := place.removesuffix("/README.md")) in self.env.found_docs:
            target = {"refdomain": "doc", "reftype": "myst", "reftarget": page, "reftargetid": anchor or None}
            return addnodes.pending_xref("", *node.children, refdoc=self.env.docname, refexplicit=True, **target)
        server, repository = (os.environ.get(name) for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
        if server and repository:
            address = f"{server}/{repository}/blob/HEAD/{place}{f'#{anchor}' if anchor else ''}"
            return nodes.reference("", "", *node.children, refuri=address, internal=False)
        return nodes.inline("", "", *node.children)


def add_picker(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Put the install picker below the first paragraph of the first page, for an index that the reader names."""
    if page == app.config.root_doc:
        stocks = [stock_pinned(OWN_ROOT, version) for version in reversed(known_releases())]
        table = make_table(read_form(), stocks, closed=False)
        pages = dict.fromkeys(known_releases(), _PROOFS)
        module: Any = open_templates().get_template("picker.html").module
        context["body"] = context["body"].replace(
            "</p>", f"</p>{module.picker(table, example=_EXAMPLE, pages=pages)}", 1
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what is added."""
    app.add_transform(RepositoryLinks)
    app.connect("html-page-context", add_picker)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
