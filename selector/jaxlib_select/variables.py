# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The environment variables of this program, and the check for misspelt ones."""

from __future__ import annotations

from collections.abc import Mapping

from jaxlib_select.errors import UsageError

DEFAULT = "JAXLIB_SELECT_BACKENDS_DEFAULT"
BACKEND = "JAXLIB_SELECT_BACKEND_"  # the name of a package follows
INDEX = "JAXLIB_SELECT_INDEX"
_TIMEOUT = "JAXLIB_SELECT_TIMEOUT"

_PREFIX = "JAXLIB_SELECT_"
_SHORTEST, _LONGEST = 0.1, 600.0  # seconds


def check_names(environ: Mapping[str, str]) -> None:
    """Raise a `UsageError` for an unknown variable with our prefix, so that a misspelt one is not ignored."""
    for name in environ:
        own = name in {DEFAULT, INDEX, _TIMEOUT} or name.startswith(BACKEND)
        if name.startswith(_PREFIX) and environ[name] and not own:
            raise UsageError(
                f"unknown variable: {name}",
                remedy=f"known: {DEFAULT}, {INDEX}, {_TIMEOUT}, and for one package such as {BACKEND}JAX",
            )


def read_timeout(environ: Mapping[str, str], default: float) -> float:
    """Return how many seconds to wait for libcuda, within reason; a `UsageError` if that is no positive number."""
    text = environ.get(_TIMEOUT, "")
    try:
        seconds = float(text) if text else default
    except ValueError:
        seconds = 0.0
    if not seconds > 0:  # nor NaN
        raise UsageError(f"{_TIMEOUT}={text}", remedy="expected a positive number of seconds, such as 30")
    return min(max(seconds, _SHORTEST), _LONGEST)
