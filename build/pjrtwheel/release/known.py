# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The releases of this repository: which there are, and which one is taken; the standard library is enough."""

from __future__ import annotations

import re
from pathlib import Path

from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.release.model import Release, read_release

_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?")


def list_releases(root: Path) -> list[str]:
    """Return the JAX versions that are pinned below `root`, the newest last."""
    return sorted((path.stem for path in (root / "releases").glob("[0-9]*.toml")), key=version_order)


def newest_release(root: Path) -> str:
    """Return the newest JAX version that is pinned below `root`: what every command takes unless another is named.

    Raises:
        UsageError: None is.
    """
    known = list_releases(root)
    if not known:
        raise UsageError(
            f"no release file in {root / 'releases'}", remedy="pin a release with: ./noxw -s pin -- VERSION"
        )
    return known[-1]


def load_release(root: Path, version: str | None = None) -> Release:
    """Read the release file of a JAX version below `root`, the newest one unless another is named.

    Raises:
        UsageError: There is no such release; the message lists those there are.
        PinError: The file is malformed.
    """
    version = version or newest_release(root)
    path = root / "releases" / f"{version}.toml"
    known = list_releases(root)
    if version not in known:
        raise UsageError(
            f"unknown release: {version!r}",
            cause=f"known releases: {', '.join(known) or 'none'}",
            remedy=f"pin it with: ./noxw -s pin -- {version}" if _VERSION.fullmatch(version) else "",
        )
    release = read_release(path)
    if release.version != version:
        raise PinError(
            f"{path} is of release {release.version!r}", cause="the file name must be the release, as in 0.11.2.toml"
        )
    return release


def choose_release(root: Path, version: str | None, backend: str, platform: str) -> Release:
    """Read the release that is named, or else the newest one that has a backend's library for a platform.

    Where no release has it, that is the newest of all, so that the error says what the newest one lacks.

    Raises:
        UsageError: There is no such release; the message lists those there are.
        PinError: A file is malformed.
    """
    if version:
        return load_release(root, version)
    newest_first = reversed(list_releases(root))
    releases = (load_release(root, known) for known in newest_first)
    found = next((release for release in releases if platform in release.platforms(backend)), None)
    return found or load_release(root)


def version_order(version: str) -> tuple[tuple[int, ...], bool, str, int]:
    """Return what releases are ordered by; a pre-release comes before its release, a post-release after it.

    >>> sorted(["0.11.2.post1", "0.11.2", "0.12.0", "0.9.3", "0.12.0rc10", "0.12.0rc9"], key=version_order)
    ['0.9.3', '0.11.2', '0.11.2.post1', '0.12.0rc9', '0.12.0rc10', '0.12.0']
    """
    match = re.match(r"([\d.]*)([a-z]*)(\d*)", version)
    numbers, letters, last = match.groups() if match else ("", version, "")
    is_whole = letters in {"", "post"}
    return tuple(int(part) for part in numbers.split(".") if part), is_whole, letters, int(last or 0)
