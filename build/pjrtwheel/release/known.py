# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The releases of this repository: which there are, and which one is taken; the standard library is enough."""

import re
from dataclasses import replace
from pathlib import Path

from pjrtwheel.errors import UsageError
from pjrtwheel.release.model import LABEL, Release, read_release

# As the package index spells those of JAX.
_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:(rc|\.dev)(\d+))?")


def is_version(text: str) -> bool:
    """Return whether a text is a version as the package index spells it.

    >>> is_version("0.12.0.1"), is_version("../0.12")
    (True, False)
    """
    return _VERSION.fullmatch(text) is not None


def list_releases(root: Path) -> list[str]:
    """Return the JAX versions that are pinned below `root`, the newest last."""
    names = (path.stem for path in (root / "releases").glob("[0-9]*.toml"))
    return sorted(filter(is_version, names), key=version_order)


def newest_release(root: Path) -> str:
    """Return the newest JAX version that is pinned below `root`: what every command takes unless another is named.

    Raises:
        UsageError: None is.
    """
    known = list_releases(root)
    if not known:
        raise UsageError(f"no pins file in {root / 'releases'}", remedy="pin a release with: ./noxw pin VERSION")
    return known[-1]


def load_release(root: Path, version: str | None = None) -> Release:
    """Read the pins file of a JAX version below `root`, by default the newest one; 1.2 is 1.2.0.

    Raises:
        UsageError: There is no such release; the message lists those there are.
        PinError: The file is malformed.
    """
    version = version or newest_release(root)
    known = list_releases(root)
    equal = (one for one in known if is_version(version) and version_order(one) == version_order(version))
    if not (found := next(equal, "")):
        raise UsageError(
            f"unknown release: {version!r}",
            cause=f"known releases: {', '.join(known) or 'none'}",
            remedy=f"pin it with: ./noxw pin {version}" if is_version(version) else "",
        )
    return read_release(root / "releases" / f"{found}.toml")


def choose_release(root: Path, version: str | None, platform: str, *backends: str) -> Release:
    """Read the release that is named, or else the newest one that has the libraries of all backends for a platform.

    Where no release has them, that is the newest of all, so that the error says what the newest one lacks.

    Raises:
        UsageError: There is no such release; the message lists those there are.
        PinError: A file is malformed.
    """
    if version:
        return load_release(root, version)
    newest_first = reversed(list_releases(root))
    releases = (load_release(root, known) for known in newest_first)
    fitting = (release for release in releases if all(platform in release.platforms(name) for name in backends))
    return next(fitting, None) or load_release(root)


def give_label(release: Release, label: str | None) -> Release:
    """Return a release with another label, if one is given, for a set that does not belong to this repository.

    Raises:
        UsageError: It cannot be a label, or is that of the repository's own sets.
    """
    if label is None:
        return release
    if not label or not re.fullmatch(LABEL, label) or label == release.label:
        raise UsageError(
            f"not a label for a set of your own: {label!r}",
            cause=f"{release.label!r} is that of this repository's" if label == release.label else "",
            remedy="take lower-case letters and digits, a letter first, such as mine",
        )
    return replace(release, label=label)


def version_order(version: str) -> tuple[list[int], int, int]:
    """Return what releases of JAX are ordered by: nightly builds, candidates, the release.

    Not packaging's, which is missing where repository rules and `matrix` run: they have the standard library only.

    >>> sorted(["1.0", "1.0.0.1", "1.1", "1.1rc10", "1.1rc9", "1.1.dev2", "0.9.3"], key=version_order)
    ['0.9.3', '1.0', '1.0.0.1', '1.1.dev2', '1.1rc9', '1.1rc10', '1.1']
    >>> version_order("1.1.0") == version_order("1.1")
    True
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"no version: {version!r}")
    numbers, stage, count = match.groups()
    release = [int(part) for part in numbers.split(".")]
    while release and not release[-1]:
        release.pop()
    return release, [".dev", "rc", None].index(stage), int(count or 0)
