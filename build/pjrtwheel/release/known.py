# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The releases of this repository: which there are, and which one is taken; the standard library is enough."""

import math
import re
from pathlib import Path

from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.release.model import Release, read_release

# As the package index spells them.
_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:(a|b|rc)(\d+))?(?:\.post(\d+))?(?:\.dev(\d+))?")


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
    """Read the pins file of a JAX version below `root`, the newest one unless another is named.

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
            remedy=f"pin it with: ./noxw pin {version}" if is_version(version) else "",
        )
    release = read_release(path)
    if release.version != version:
        raise PinError(
            f"{path} is of release {release.version!r}", cause="the file name must be the release, as in 0.11.2.toml"
        )
    return release


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


def version_order(version: str) -> tuple[tuple[int, ...], tuple[str, int], int, float]:
    """Return what releases are ordered by, as PEP 440 says.

    Not packaging's, which is missing where repository rules and `matrix` run: they have the standard library only.

    >>> sorted(["1.0", "1.0.post1", "1.1.dev2", "1.1rc10", "1.1rc9", "1.1a1.dev1", "1.1a1", "0.9.3"], key=version_order)
    ['0.9.3', '1.0', '1.0.post1', '1.1.dev2', '1.1a1.dev1', '1.1a1', '1.1rc9', '1.1rc10']
    >>> version_order("1.1.0") == version_order("1.1")
    True
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"no version: {version!r}")
    numbers, letters, pre, post, dev = match.groups()
    release = [int(part) for part in numbers.split(".")]
    while release and not release[-1]:
        release.pop()
    whole = ("", 0) if dev and not post else ("whole", 0)  # behind a, b and rc
    stage = (letters, int(pre)) if letters else whole
    return tuple(release), stage, int(post or -1), int(dev) if dev else math.inf
