# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The page about environment variables."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.reference.markdown import code, plain, render_table
from pjrtwheel.reference.variables import list_variables

_ABOUT = {
    "Builds": "pip and uv also read their own, such as `PIP_INDEX_URL`, and programs of all kinds read `TMPDIR`.",
    "Releases": "Addresses of destinations are options or variables; credentials are twine's own variables.",
    "Installed wheels": "For a running JAX.",
    "jaxlib-select": "Any other variable that begins with `JAXLIB_SELECT_` is an error.",
    "Tests": "",
    "Workflows": "Variables of the repository on GitHub, in addition to those of destinations.",
    "Set by the tooling itself": "For Bazel and what it starts; whatever they are before is not read.",
}


def render_variables(root: Path) -> str:
    """Return the page with one table for each of the programs."""
    parts = ["# Environment variables\n"]
    for title, variables in list_variables(root).items():
        rows = ((code(variable.name), plain(variable.meaning)) for variable in variables)
        parts += [f"## {title}\n", *([_ABOUT[title] + "\n"] if _ABOUT[title] else [])]
        parts.append(render_table(("variable", "meaning"), rows) + "\n")
    return "\n".join(parts).rstrip("\n") + "\n"
