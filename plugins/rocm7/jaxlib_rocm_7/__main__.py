# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_rocm_7`: say whether this plugin fits the installed jaxlib, ROCm and the GPUs."""

from __future__ import annotations

import sys

from . import ACCELERATOR
from .pjrt.command import run
from .pjrt.examine import examine_accelerator

if __name__ == "__main__":
    sys.exit(run(ACCELERATOR.plugin, sys.argv[1:], lambda opening: examine_accelerator(ACCELERATOR, opening=opening)))
