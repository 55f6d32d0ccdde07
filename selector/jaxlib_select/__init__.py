# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out which accelerator a machine has, and which package of a release will really run on it.

This module and `__main__` are what an older Python imports first, so they are written for every Python 3.
"""

import sys

__version__ = "0.1.0"

OLDEST = (3, 11)

# Where the public names live; each module is imported when it is first asked for, because most programs want one.
_PUBLIC = {
    "BackendError": "jaxlib_select.runtime",
    "Candidate": "jaxlib_select.choose.decision",
    "Decision": "jaxlib_select.choose.decision",
    "Machine": "jaxlib_select.machine.model",
    "PolicyError": "jaxlib_select.errors",
    "Resolver": "jaxlib_select.choose.resolve",
    "available": "jaxlib_select.runtime",
    "get_default_backend": "jaxlib_select.runtime",
    "require": "jaxlib_select.runtime",
    "set_default_backend": "jaxlib_select.runtime",
    "using_backend": "jaxlib_select.runtime",
}


def python_problem() -> str:
    """Return one line if this Python is too old for this package; empty if it is not."""
    if sys.version_info >= OLDEST:
        return ""
    wanted, found = (".".join(map(str, version[:2])) for version in (OLDEST, sys.version_info))
    return f"jaxlib-select needs Python {wanted} or newer, {sys.executable} is Python {found}"


def __getattr__(name: str) -> object:
    """Return a public name, importing the module that has it."""
    import importlib

    if name not in _PUBLIC:
        raise AttributeError(f"module 'jaxlib_select' has no attribute {name!r}")
    if python_problem():
        raise ImportError(python_problem())
    return getattr(importlib.import_module(_PUBLIC[name]), name)
