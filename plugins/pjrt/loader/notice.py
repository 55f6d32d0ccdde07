# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The one line in the log about an accelerator that is not there: why, what that means for the program, what mends it.

All that an error has to say is shown where the platform is asked for.
"""

from __future__ import annotations

import logging

from . import private
from .errors import PluginError

logger = logging.getLogger(__name__)


def tell(distribution: str, error: PluginError, *, goes_on: bool = True) -> None:
    """Log the line.

    Args:
        distribution: Name of the plugin's distribution.
        error: Why the accelerator is not used.
        goes_on: Whether JAX can do without it.
    """
    logger.warning("%s", describe(distribution, error, None if goes_on else private.asked_platforms()))


def describe(distribution: str, error: PluginError, stopping: str | None) -> str:
    """Return the line.

    Args:
        distribution: Name of the plugin's distribution.
        error: Why the accelerator is not used.
        stopping: The value of `jax_platforms` without which JAX could go on; None where it goes on.
    """
    what = " ".join(error.what.splitlines())
    named = what.startswith(distribution)
    subject = what if named else f"{distribution}: {what}"
    return f"{subject}; {describe_consequence(distribution if named else 'it', stopping)}{error.fix()}"


def describe_consequence(name: str, stopping: str | None) -> str:
    """Return what the absence of an accelerator means for a program."""
    if stopping is None:
        return f"JAX goes on without {name}"
    reason = f"JAX_PLATFORMS (jax_platforms) is {stopping!r}"
    return f"JAX cannot go on, because {reason}: set it to 'cpu', or leave it empty"
