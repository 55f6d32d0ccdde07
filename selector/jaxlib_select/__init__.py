# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out which accelerator a machine has, and which package of a release will really run on it."""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# Where the public names live; each module is imported when it is first asked for, because most programs want one.
_PUBLIC = {
    "BackendError": "jaxlib_select.runtime",
    "Candidate": "jaxlib_select.decision",
    "Decision": "jaxlib_select.decision",
    "Machine": "jaxlib_select.machine",
    "PolicyError": "jaxlib_select.errors",
    "Resolver": "jaxlib_select.registry",
    "available": "jaxlib_select.runtime",
    "get_default_backend": "jaxlib_select.runtime",
    "require": "jaxlib_select.runtime",
    "set_default_backend": "jaxlib_select.runtime",
    "using_backend": "jaxlib_select.runtime",
}


def __getattr__(name: str) -> object:
    """Return a public name, importing the module that has it."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'jaxlib_select' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)
