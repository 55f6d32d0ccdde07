# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_cpu`: say whether this plugin fits the installed jaxlib, and what its library is."""

from __future__ import annotations

import sys

from . import PLUGIN
from .pjrt.status import show


def main() -> int:
    """Print the status; return 0 if the plugin can serve, else 1."""
    status: int = show(PLUGIN, lambda _: (), "its built-in CPU client")
    return status


if __name__ == "__main__":
    sys.exit(main())
