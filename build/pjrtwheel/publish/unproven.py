# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Publish wheels that hold no library: there is nothing to run in them, so they are verified and no more."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.prove.levels import Level
from pjrtwheel.prove.origin import find_origin
from pjrtwheel.prove.record import Proof
from pjrtwheel.publish import publish
from pjrtwheel.verify import verify_wheels
from pjrtwheel.wheel.report import BuiltWheel


def publish_unproven(built: Sequence[BuiltWheel], backends: Sequence[Backend], root: Path, dist: Path) -> None:
    """Verify wheels, and put them into `dist` with a record that says that nothing of them was run.

    Args:
        built: The wheels.
        backends: All backends.
        root: Root of the repository, whose commit the record names.
        dist: The folder; made when it is missing.

    Raises:
        VerifyError: A wheel breaks a promise.
        WheelError: The disk is full.
    """
    verify_wheels(built, backends)
    origin = find_origin(root, os.environ)
    publish(built, [Proof(wheel.report.wheel, Level.STATIC, None, (), origin=origin) for wheel in built], dist)
