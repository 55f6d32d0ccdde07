# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the documentation site of this folder: `./noxw docs` runs it.

Sphinx with MyST and furo, because it is kept, ends with an error for what readers would find broken (a link, an anchor,
a page that no menu lists), and gives plain files that search and work from a disk: nothing is loaded from the network.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("build", "selector", "docs/_ext")]

from jaxlib_select.facts import known_releases  # noqa: E402 - in a folder that the line above adds

# A page for the README of each backend, which needs no file in this folder for it.
(pages := Path(__file__).with_name("plugins")).mkdir(exist_ok=True)
for readme in pages.parents[1].glob("plugins/*/README.md"):
    text = f"```{{include}} ../../plugins/{readme.parent.name}/README.md\n```\n"
    (pages / f"{readme.parent.name}.md").write_text(text, "utf-8")

project = "Split JAX wheels"

extensions = ["myst_parser", "sphinx_copybutton", "console", "pjrtwheel.docs.site"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4  # as GitHub makes them, so that a link works in both
smartquotes = False  # it would turn the two dashes of an option into one long dash

html_theme = "furo"
pygments_style = "a11y-high-contrast-light"
html_title = f"{project} for JAX {known_releases()[-1]}"
html_use_index = False
html_search_scorer = str(Path(__file__).with_name("_ext") / "scorer.js")
html_static_path = ["_static", "../build/pjrtwheel/products/index/release_pages/static"]
html_css_files = ["picker.css", "site.css"]
html_js_files = [("picker.js", {"defer": "defer"}), ("site.js", {"defer": "defer"})]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"

linkcheck_ignore = [r"https?://(localhost|127\.0\.0\.1|[\w.]*example\.(org|com))\b"]  # invented ones
