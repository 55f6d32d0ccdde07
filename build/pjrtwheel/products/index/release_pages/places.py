# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Where the release pages are in an index."""

from __future__ import annotations

MAIN_PAGE = "about.html"
FOLDER = "about_files"  # never the name of a project: those have no underscore (PEP 503)


def is_release_page(path: str) -> bool:
    """Return whether a path of an index is one of these pages, which no installer reads."""
    return path == MAIN_PAGE or path.startswith(f"{FOLDER}/")
