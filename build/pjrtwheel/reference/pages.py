# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which pages there are, and their text."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.reference.files_page import render_backend_files, render_documents, render_release_files
from pjrtwheel.reference.select_page import render_select
from pjrtwheel.reference.sessions_page import render_commands, render_sessions
from pjrtwheel.reference.statuses_page import render_statuses
from pjrtwheel.reference.variables_page import render_variables

FOLDER = "docs/reference"
_NOTE = "<!-- Written by nox -s update_reference from {source}; do not edit. -->\n\n"


def render_pages(root: Path) -> dict[str, str]:
    """Return the text of each page, by its path in the repository."""
    pages = {
        "sessions": ("noxfile.py and the parsers of its commands", render_sessions(root)),
        "commands": ("the parsers in build/pjrtwheel/cli/", render_commands(root)),
        "jaxlib-select": ("the parsers in selector/jaxlib_select/cli/", render_select()),
        "environment-variables": ("build/pjrtwheel/reference/variables.py", render_variables(root)),
        "backend-files": ("the dataclasses that read them", render_backend_files()),
        "release-files": ("the dataclasses that read them", render_release_files()),
        "json-documents": ("the dataclasses that write them", render_documents()),
        "exit-statuses": ("the classes of errors", render_statuses()),
    }
    return {f"{FOLDER}/{name}.md": _NOTE.format(source=source) + text for name, (source, text) in pages.items()}
