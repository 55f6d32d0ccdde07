# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the projects that no backend names: what all plugins need, and what is built from a finished set."""

from __future__ import annotations

BINDINGS = "jaxlib"
AUTO = "jaxlib-auto"
SELECTOR = "jaxlib-select"
PURE_PYTHON = (AUTO, SELECTOR)  # their wheels hold no library
