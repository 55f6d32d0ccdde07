# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m <package>`: its arguments, its answer and its exit status.

The status is 0 if the plugin fits, and 1 if anything that is shown keeps JAX from using it or from working. That there
is no such hardware is no misfit: images are built and programs compiled on machines that have none, so the status is 0
there if all else fits, and the last line says so. Where the hardware is, but this process sees no device, it is 1.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from .plugin import Plugin
from .report import Report

HELP = """usage: python -m {module} [--help]

Say what {distribution} is, what it finds on this machine, and what keeps JAX from using it.
The last line says whether it fits here, and has the command that mends it.

exit status:
  0  it fits, also where there is no such hardware
  1  something keeps JAX from using it, or the answer could not be written
  2  it was called with an argument"""


def run(plugin: Plugin, arguments: Sequence[str], examine: Callable[[], Report]) -> int:
    """Answer the command; return its exit status.

    Args:
        plugin: The plugin.
        arguments: What stands after the package's name.
        examine: Looks at the plugin and the machine.
    """
    module = plugin.package.name
    if arguments and arguments[0] in ("-h", "--help"):
        return _answer(HELP.format(module=module, distribution=plugin.distribution))
    if arguments:
        print(f"python -m {module}: unknown argument {arguments[0]!r} (it takes none but --help)", file=sys.stderr)
        return 2
    report = examine()
    return max(_answer("\n".join(report.text())), 1 if report.problems else 0)


def _answer(text: str) -> int:
    """Print a text and return 0, or 1 if it could not be written; a reader that has gone has read enough."""
    try:
        print(text, flush=True)
    except OSError as error:
        # Python flushes once more when it exits, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"cannot write the answer: {error.strerror}", file=sys.stderr)
            return 1
    return 0
