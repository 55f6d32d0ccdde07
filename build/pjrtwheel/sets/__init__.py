# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of wheels that belong together: those a release promises, those in a folder, those somebody published.

The names are those of the projects that no backend names.
"""

BINDINGS = "jaxlib"
AUTO = "jaxlib-auto"
SELECTOR = "jaxlib-select"
PURE_PYTHON = (AUTO, SELECTOR)  # their wheels hold no library
