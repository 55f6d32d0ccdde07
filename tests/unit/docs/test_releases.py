# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The table of releases says what their pins say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pjrtwheel.backend import find_backend
from pjrtwheel.docs.releases import render_releases
from pjrtwheel.release.model import Override, Pin, Release
from release_under_test import release_under_test


def make_release(version: str, *keys: str, override: str = "") -> Release:
    """Return a release with these pins."""
    pins = {key: Pin(key, "p", version, f"{key}.whl", "00", 1) for key in keys}
    overrides = (Override("cuda12", override, "why"),) if override else ()
    return replace(release_under_test(), version=version, pins=pins, overrides=overrides, absent=())


def test_each_release_has_a_column_and_each_wheel_a_row(root: Path) -> None:
    """With what one platform or one backend lacks of what the others have."""
    full = make_release(
        "2.0",
        *(f"bindings.{python}.linux_x86_64" for python in ("cp312", "cp310", "cp312t")),
        *(f"bindings.{python}.linux_aarch64" for python in ("cp310", "cp312", "cp312t")),
        "bindings.cp312.windows_x86_64",
        "plugin.cuda12.linux_x86_64",
        "plugin.cuda12.linux_aarch64",
        *(f"kernels.cuda12.{python}.linux_x86_64" for python in ("cp310", "cp312", "cp312t")),
        *(f"kernels.cuda12.{python}.linux_aarch64" for python in ("cp312",)),
        override="1.0",
    )
    bare = make_release("1.0", "bindings.cp312.linux_x86_64")
    both = "linux_aarch64, linux_x86_64"
    assert render_releases([full, bare], [find_backend(root, "cuda12")]).splitlines() == [
        "|  | 2.0 | 1.0 |",
        "| --- | --- | --- |",
        f"| `jaxlib` | {both}: 3.10, 3.12, 3.12t; windows_x86_64: 3.12 | linux_x86_64: 3.12 |",
        f"| `jaxlib-cuda-12` | {both}; with the library of 1.0; no kernels for 3.10, 3.12t | absent |",
    ]
