# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build the wheel of `jaxlib-select`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.dist_folder.folder import add_pure_python
from pjrtwheel.products.pure_python import build_pure_wheel
from pjrtwheel.wheel.report import BuiltWheel


def build_selector(root: Path, dist: Path) -> BuiltWheel:
    """Build the wheel into a folder, and list it in the `release.json` there.

    Raises:
        VerifyError: The wheel breaks a promise.
        WheelError: The build failed, or the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="select-") as scratch:
        wheel = build_pure_wheel(root / "selector", Path(scratch))
        add_pure_python([wheel], tuple(load_backends(root).values()), root, dist)
    return BuiltWheel(dist / wheel.path.name, wheel.report)
