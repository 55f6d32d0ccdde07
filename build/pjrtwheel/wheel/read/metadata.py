# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""METADATA of a wheel, where its file name says that it is."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.errors import WheelError
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.read.directory import open_wheel


def read_metadata(wheel: Path) -> bytes:
    """Return the METADATA of a wheel, which may be hostile.

    Raises:
        WheelError: It has none, is damaged, or its name is none of a wheel.
    """
    member = f"{parse_name(wheel.name).dist_info}/METADATA"
    try:
        with open_wheel(wheel) as archive:
            return archive.read(member)
    except KeyError as error:
        raise WheelError(f"{wheel} has no {member}", remedy="build it again, or fetch it again") from error
