# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find wheels of several sets under one version: installers would take them for each other's, and loaders refuse that.

Sets of different versions may share a folder, as those of several releases do.
"""

from __future__ import annotations

from collections.abc import Iterable

from pjrtwheel.dist_folder.release_file import Entry
from pjrtwheel.errors import WheelError, fit


def mixed_locks(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the wheels that do not belong together with the others of their version and platform.

    These are the bindings if there are any, or else the first.
    """
    listed = list(entries)
    expected: dict[tuple[str, str], str] = {}
    for entry in sorted(listed, key=lambda entry: entry.distribution != "jaxlib"):
        expected.setdefault((entry.version, entry.platform), entry.lock_id)
    return tuple(entry.filename for entry in listed if expected[entry.version, entry.platform] != entry.lock_id)


def check_sets(entries: Iterable[Entry], place: str) -> None:
    """Raise a `WheelError` that names the wheels which another set has brought to a place, such as a folder."""
    mixed = mixed_locks(entries)
    if mixed:
        raise WheelError(
            f"{place} would mix sets: {fit(mixed)}",
            cause="other wheels of the same version, such as jaxlib, have another lock",
            remedy="build these again, or leave them out",
        )
