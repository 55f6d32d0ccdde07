# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the library of the wheel under test is the one that this process has loaded.

Runs inside the environment under test, loaded by path: standard library only.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def require_loaded(member: str) -> str:
    """Make sure that a library of this environment's site-packages is mapped into this process, and return its name.

    Args:
        member: Its path below site-packages.

    Returns:
        That path; where it is a link to a library that took the wheel's place, name and digest of that one.

    Raises:
        AssertionError: It is not: another library serves, or none.
    """
    site = Path(sys.prefix) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    library = (site / member).resolve()
    maps = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
    mapped = {line.split(maxsplit=5)[5] for line in maps if "/" in line}
    if str(library) not in mapped:
        raise AssertionError(f"{library} is not loaded")
    if not (site / member).is_symlink():
        return member
    with library.open("rb") as file:
        return f"{library.name} (sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}) in the place of {member}"
