# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Make sure that this process has loaded a plugin library; the other files here load this one by its path."""

import sysconfig
from pathlib import Path


def require_loaded(member: str) -> None:
    """Make sure that a library below this environment's site-packages is mapped into this process.

    Raises:
        AssertionError: It is not: another library is in use, or none.
    """
    site = Path(sysconfig.get_path("platlib"))  # lib/python3.14t/site-packages of a free-threaded Python
    library = (site / member).resolve()
    maps = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
    mapped = {line.split(maxsplit=5)[5] for line in maps if "/" in line}
    if str(library) not in mapped:
        raise AssertionError(f"{library} is not loaded")
