# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which wheels belong to which Python and platform, by their names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pjrtwheel.errors import ProofError
from pjrtwheel.platforms import PLATFORMS


def wheel_tag(wheel: Path) -> str:
    """Return the compressed tag set of a wheel's file name.

    >>> wheel_tag(Path("jaxlib-0.11.2-1-cp312-cp312-manylinux_2_27_x86_64.whl"))
    'cp312-cp312-manylinux_2_27_x86_64'
    """
    return "-".join(wheel.stem.split("-")[-3:])


def fits(tag: str, python: str) -> bool:
    """Tell whether a wheel's tag is for a Python: the same one, or the stable ABI of this or an older one.

    >>> fits("cp312-abi3-manylinux_2_27_x86_64", "cp313"), fits("cp312-cp312-manylinux_2_27_x86_64", "cp313")
    (True, False)
    """
    interpreter, abi, _ = tag.split("-")
    return interpreter == python or (abi == "abi3" and int(interpreter[3:]) <= int(python[3:].rstrip("t")))


def platform_of(tags: Iterable[str]) -> str:
    """Return the platform that the wheels of a set are for.

    Raises:
        ProofError: They are for several, or for none we know.
    """
    found = {
        platform.name for tag in tags for platform in PLATFORMS.values() if tag.endswith(f"_{platform.architecture}")
    }
    if len(found) != 1:
        raise ProofError(f"wheels of one set must be for one platform, not {sorted(found) or 'none'}")
    return found.pop()
