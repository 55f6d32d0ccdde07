# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The page about the command line of `jaxlib-select`."""

from __future__ import annotations

from jaxlib_select.cli import COMMANDS, PROGRAM, make_parser
from pjrtwheel.reference.arguments import render_arguments
from pjrtwheel.reference.markdown import code, paragraph

_ABOUT = (
    f"`{PROGRAM} COMMAND`, or `python -m jaxlib_select COMMAND`. Results are on standard output, everything else on "
    "standard error. `--version` prints the version, `--debug` shows the traceback of an error. "
    "[Exit statuses](exit-statuses.md#jaxlib-select), [environment variables](environment-variables.md#jaxlib-select)."
)


def render_select() -> str:
    """Return the page of all commands and their options."""
    parts = ["# jaxlib-select\n", paragraph(_ABOUT) + "\n"]
    for name, summary in COMMANDS.items():
        parts += [f"## {code(name)}\n", paragraph(f"{summary[0].upper()}{summary[1:]}.") + "\n"]
        parts.append(render_arguments(make_parser(name)) + "\n")
    return "\n".join(parts).rstrip("\n") + "\n"
