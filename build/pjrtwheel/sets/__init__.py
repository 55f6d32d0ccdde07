# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of wheels that belong together: those a release promises, those in a folder, those somebody published.

The names are those of the projects that no backend names.
"""

from collections.abc import Iterable

from pjrtwheel.backend import Backend

BINDINGS = "jaxlib"
AUTO = "jaxlib-auto"
SELECTOR = "jaxlib-select"
TOOLING = "pjrtwheel"
PURE_PYTHON = (AUTO, SELECTOR, TOOLING)  # their wheels hold no library


def our_names(backends: Iterable[Backend]) -> set[str]:
    """Return the names that are ours alone: plugins, their kernels, and those of pure Python."""
    return {*PURE_PYTHON, *(name for backend in backends for name in backend.distributions)}
