# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A Sphinx extension: an image whose name ends in `-light.svg` gives way to its twin `-dark.svg` in the dark theme.

Markdown has one image only, which GitHub shows in either theme.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_LIGHT, _DARK = "-light.svg", "-dark.svg"


class ThemedImages(SphinxTransform):
    """Put the twin next to each such image that has one; furo shows one of them."""

    default_priority: ClassVar[int] = 5

    def apply(self, **_: object) -> None:
        """Add all of them."""
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for image in list(self.document.findall(nodes.image)):
            place = str(image["uri"])
            twin = place.removesuffix(_LIGHT) + _DARK
            if place.endswith(_LIGHT) and (folder / twin).is_file():
                dark = image.deepcopy()
                dark["uri"] = twin
                image["classes"].append("only-light")
                dark["classes"].append("only-dark")
                image.parent.insert(image.parent.index(image) + 1, dark)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(ThemedImages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
