# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what {distribution} is, what it finds on this machine, and what keeps JAX from using it.

usage: python -m {module} [--help] [--json] [--no-open] [--verbose]
       python -m {module} compile MODULE:FUNCTION --for CHIP ...

The first line says whether it fits here, the last one has the command that fixes it. With compile, a function is
compiled for chips that need not be here.

options:
  --json     the same as one JSON object
  --no-open  look at files only: open no library, and do not ask the driver
  --verbose  say by whose decision the library is of another release, too

exit status:
  0  it fits, also where there is no such hardware: images are built and programs compiled on machines that have none
  1  something that is shown keeps JAX from using it or from working, as where the hardware is, but this process sees
     no device; or the answer could not be written
  2  it was called with what does not exist, such as an unknown argument
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from .chips import describe_chips
from .compile import run as compile_function
from .examine import examine_accelerator, examine_plugin
from .plugin import Plugin
from .report import Report, to_json, to_text
from .terminal import dress

_OPTIONS = ("--json", "--no-open", "--verbose")


def run(plugin: Plugin, loader: ModuleType, arguments: Sequence[str]) -> int:
    """Answer the command; return its exit status.

    A loader with a function `examine(opening)` looks at the plugin and the machine by itself. One with `find_device()`
    is asked for the device, as JAX asks it.
    """
    module = plugin.package.name
    if arguments[:1] == ["compile"]:
        topology = getattr(loader, "topology", functools.partial(describe_chips, plugin))
        return _answer(compile_function(plugin, topology, arguments[1:]))
    if "-h" in arguments or "--help" in arguments:
        return _answer((__doc__ or "").rstrip().format(module=module, distribution=plugin.distribution))
    unknown = next((argument for argument in arguments if argument not in _OPTIONS), None)
    if unknown is not None:
        print(f"python -m {module}: unknown argument {unknown!r} (see python -m {module} --help)", file=sys.stderr)
        return 2
    report = _examine(plugin, loader, opening="--no-open" not in arguments)
    lines = dress(to_text(report, verbose="--verbose" in arguments), sys.stdout, os.environ, fits=report.fits)
    return max(_answer(to_json(report) if "--json" in arguments else "\n".join(lines)), 0 if report.fits else 1)


def _examine(plugin: Plugin, loader: ModuleType, *, opening: bool) -> Report:
    if hasattr(loader, "examine"):
        report: Report = loader.examine(opening)
        return report
    if hasattr(loader, "ACCELERATOR"):
        return examine_accelerator(loader.ACCELERATOR, opening=opening)
    plain = examine_plugin(plugin, loader.PRIORITY, opening=opening)
    plain.check(getattr(loader, "find_device", lambda: None))
    return plain


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
