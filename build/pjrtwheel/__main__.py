# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the command line: `python -m pjrtwheel COMMAND ...`."""

import sys

from pjrtwheel.cli import main

if __name__ == "__main__":
    sys.exit(main())
