# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which tag a published wheel belongs to, as its name says."""

from __future__ import annotations

from collections.abc import Iterable

from pjrtwheel.errors import WheelError
from pjrtwheel.wheel.names import WheelName, parse_name

BINDINGS = "jaxlib"
SELECTOR = "jaxlib-select"


def tag_of_wheel(name: WheelName) -> str:
    """Return the tag of a wheel; of a second set without a label only `jaxlib` says that it is the second.

    >>> tag_of_wheel(parse_name("jaxlib_cpu-0.11.2+split.1-cp312-abi3-manylinux_2_27_x86_64.whl"))
    'v0.11.2+split.1'
    >>> tag_of_wheel(parse_name("jaxlib-0.11.2-2-cp312-cp312-manylinux_2_27_x86_64.whl"))
    'v0.11.2+2'
    """
    if name.distribution == SELECTOR:
        return f"select-v{name.version}"
    number = "" if "+" in name.version or name.build in {"", "1"} else f"+{name.build}"
    return f"v{name.version}{number}"


def tag_of_release(filenames: Iterable[str]) -> str:
    """Return the tag of the wheels of one release, which `jaxlib-select` may go with.

    Raises:
        WheelError: There are none, or they are of several releases.
    """
    names = [parse_name(filename) for filename in filenames]
    tags = sorted({tag_of_wheel(name) for name in names if name.distribution == BINDINGS}) or sorted(
        {tag_of_wheel(name) for name in names}
    )
    versions = {name.version for name in names if tag_of_wheel(name) in tags}
    others = {name.version for name in names if name.distribution != SELECTOR} - versions
    if len(tags) != 1 or others:
        raise WheelError(
            f"the folder has wheels of {', '.join([*tags, *sorted(others)]) or 'no release'}",
            cause="what is published together is one release",
            remedy="make the folder of one tag: ./noxw -s attest -- --tag TAG",
        )
    return tags[0]
