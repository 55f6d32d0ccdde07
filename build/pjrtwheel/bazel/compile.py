# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the pinned C compiler inside an action, once for each output.

    python -m pjrtwheel.bazel.compile COMPILER ARGUMENTS... {-- OUTPUT OPTIONS...}...

The compiler wants a writable cache; it gets an empty one of its own, so that nothing is left behind and nothing from
an earlier action, or from the user's home, can get into the result. The outputs of one action share it: most of the
time of the first passes with the C library's stubs, which are the same for all.
"""

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the compiler and return its first exit status that is not 0; what it says goes to stderr."""
    words = itertools.groupby(sys.argv[1:] if argv is None else argv, key="--".__eq__)
    command, *outputs = (list(group) for is_separator, group in words if not is_separator)
    with tempfile.TemporaryDirectory(prefix="pjrtwheel-cc-") as cache:
        variables = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR", "HOME", "TMPDIR"), cache)
        for output, *options in outputs:
            done = subprocess.run([*command, *options, "-o", output], env={**variables, "PATH": ""}, check=False)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
