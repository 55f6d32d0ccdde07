# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a bump is about, as all its steps need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.release.model import Release


@dataclass(frozen=True, slots=True)
class BumpRequest:
    """What to do for a release.

    Attributes:
        root: The repository.
        dist: Folder of the wheels.
        cache: Where downloads and evidence are kept.
        backends: Names of the backends to build; empty for all that the release has for this machine.
        build: Whether to build at all.
        tests: Folder of JAX's tests, which run on what is built; without one they are not run.
    """

    root: Path
    dist: Path
    cache: Path
    backends: tuple[str, ...] = ()
    build: bool = True
    tests: Path | None = None


@dataclass(frozen=True, slots=True)
class Bump:
    """A release that is pinned.

    Attributes:
        root: The repository.
        dist: Folder of the wheels.
        cache: Where downloads and evidence are kept.
        release: The release.
        before: The release before it; nothing if there is none.
        backends: All backends, by name.
    """

    root: Path
    dist: Path
    cache: Path
    release: Release
    before: Release | None
    backends: Mapping[str, Backend]
