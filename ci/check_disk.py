# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Fail at once, and say why, where a disk has no room for what follows: `python ci/check_disk.py GIGABYTES [FOLDER]`.

Otherwise it fills up after half an hour, in the middle of a wheel, and any program may be the one that fails.
"""

import shutil
import sys
from pathlib import Path

GIGABYTE = 10**9


def main(arguments: list[str]) -> None:
    """Say what is free; end with a message if it is not enough."""
    needed, folder = int(arguments[0]), Path(arguments[1] if len(arguments) > 1 else ".")
    free = shutil.disk_usage(folder).free / GIGABYTE
    if free < needed:
        raise SystemExit(
            f"::error::{free:.1f} GB are free, what follows takes up to {needed} GB; remove what is not needed on this "
            f"runner, or name a larger one"
        )
    print(f"{free:.1f} GB are free, up to {needed} GB are needed")


if __name__ == "__main__":
    main(sys.argv[1:])
