# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_cpu`: say whether this plugin fits the installed jaxlib, and what its library is."""

from __future__ import annotations

import sys

from . import PLUGIN, PRIORITY
from .pjrt.command import run
from .pjrt.examine import examine_plugin

if __name__ == "__main__":
    sys.exit(run(PLUGIN, sys.argv[1:], lambda opening: examine_plugin(PLUGIN, PRIORITY, opening=opening)))
