# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_cpu`: say whether this plugin fits the installed jaxlib, and what its library is."""

from __future__ import annotations

import sys

from . import PLUGIN
from .pjrt.command import run
from .pjrt.status import examine_plugin

if __name__ == "__main__":
    sys.exit(run(PLUGIN, sys.argv[1:], lambda: examine_plugin(PLUGIN)))
