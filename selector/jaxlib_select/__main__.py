# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_select` is `jaxlib-select`."""

import sys

from jaxlib_select.cli import main

if __name__ == "__main__":
    sys.exit(main())
