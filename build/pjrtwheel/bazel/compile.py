# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the pinned C compiler inside an action: `python -m pjrtwheel.bazel.compile COMPILER ARGUMENTS...`.

The compiler wants a writable cache; it gets an empty one of its own, so that nothing is left behind and nothing from
an earlier run, or from the user's home, can get into the result.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the compiler and return its exit status; what it says goes to stderr."""
    command = list(sys.argv[1:] if argv is None else argv)
    with tempfile.TemporaryDirectory(prefix="pjrtwheel-cc-") as cache:
        variables = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR", "HOME", "TMPDIR"), cache)
        try:
            return subprocess.run(command, env={**variables, "PATH": ""}, check=False).returncode
        except OSError as error:
            print(f"cannot run the compiler {command[0]}: {error.strerror}", file=sys.stderr)
            return 127


if __name__ == "__main__":
    sys.exit(main())
