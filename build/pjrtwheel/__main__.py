# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the command line: `python -m pjrtwheel COMMAND ...`."""

import sys

if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever starts it may have an older one
        sys.stderr.write(f"error: pjrtwheel needs Python 3.11 or newer, this is {sys.version.split()[0]}\n")
        sys.exit(2)
    from pjrtwheel.cli import main

    sys.exit(main())
