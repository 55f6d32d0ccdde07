# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A Sphinx extension: links of pages to files of the repository that are not pages.

On GitHub `../releases/policy.toml` is a link like any other. The site has no such file: it gets the address on GitHub
where the workflow that publishes says which repository this is, and a copy of the file everywhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


def find_address(environ: Mapping[str, str]) -> str:
    """Return the address below which GitHub shows the files of this repository; empty outside of its workflows."""
    server, repository = (environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
    return f"{server}/{repository}/blob/HEAD" if server and repository else ""


class RepositoryLinks(SphinxTransform):
    """Replace the links of a page that lead out of the folder of pages."""

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
        root = Path(self.env.srcdir).parent
        if address := find_address(os.environ):
            place = f"{address}/{path.relative_to(root).as_posix()}{f'#{anchor}' if anchor else ''}"
            return nodes.reference("", "", *node.children, refuri=place, internal=False)
        if path.is_dir():
            return nodes.inline("", "", *node.children)
        relative = os.path.relpath(path, Path(self.env.doc2path(self.env.docname)).parent)
        return addnodes.download_reference("", "", *node.children, reftarget=relative, refdoc=self.env.docname)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(RepositoryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
