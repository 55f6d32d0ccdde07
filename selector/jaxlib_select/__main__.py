# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_select` is `jaxlib-select`; an older Python gets one line here, and imports nothing else."""

import sys

from jaxlib_select import python_problem


def main() -> int:
    """Run the command line, and return its exit status; 2 on a Python that is too old for it."""
    if python_problem():
        sys.stderr.write(f"error: {python_problem()}\n")
        return 2
    from jaxlib_select.cli import main as run

    return run()


if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]  # the working directory, of which a `json.py` would be imported
    sys.exit(main())
