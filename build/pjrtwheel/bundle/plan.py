# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What has to be in a bundle: the wheels that it is for, their pinned inputs, and the locked tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends, pick_backend
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import Platform
from pjrtwheel.release.checks import check_inputs, fetched_pins
from pjrtwheel.release.known import choose_release
from pjrtwheel.release.model import Pin, Release

_LOCKS = ("build/*requirements.txt", "build/locks/*.txt")
_LOCKED = re.compile(
    r"^([\w.-]+==[^\s;\\]+(?: ; [^\\\n]+?)?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class BundledBuild:
    """A backend of a release for a platform: one call of `nox -s build_<backend>`."""

    release: Release
    backend: Backend
    platform: Platform

    def __str__(self) -> str:
        """Name it as the manifest does."""
        return f"{self.release.version} {self.backend.name} {self.platform.name}"


def choose_builds(
    root: Path, names: Sequence[str], versions: Sequence[str], platforms: Sequence[Platform], host: Platform
) -> tuple[BundledBuild, ...]:
    """Return the builds that a bundle is for.

    Without names these are all backends that have a library there, without versions the newest release of each.

    Raises:
        UsageError: No such backend or release, or there is nothing to build.
        FetchError: An input of a backend that was named is not pinned.
    """
    known = load_backends(root)
    chosen = [pick_backend(known, name) for name in names] or list(known.values())
    found: dict[str, BundledBuild] = {}
    for backend in chosen:
        for platform in platforms:
            for version in versions or (None,):
                release = choose_release(root, version, platform.name, backend.name)
                if not names and platform.name not in release.platforms(backend.name):
                    continue
                check_inputs(release, backend, platform, "prebuilt", host)
                build = BundledBuild(release, backend, platform)
                found[str(build)] = build
    if not found:
        raise UsageError("no backend has a library for that", remedy="docs/user/wheels.md lists what each has")
    return tuple(found.values())


def list_pins(builds: Iterable[BundledBuild], host: Platform) -> tuple[Pin, ...]:
    """Return every pinned input of some builds on a host, each once.

    Raises:
        FetchError: One is not pinned.
    """
    found = (fetched_pins(build.release, [build.backend], build.platform, "prebuilt", host) for build in builds)
    return tuple({pin.sha256: pin for pins in found for pin in pins}.values())


def parse_lock(text: str) -> dict[str, frozenset[str]]:
    r"""Return requirement → sha256 of its files, of a lock that `nox -s lock_tools` wrote.

    >>> parse_lock("a==1 ; os_name == 'nt' \\\n    --hash=sha256:" + "0" * 64 + "\n").keys()
    dict_keys(["a==1 ; os_name == 'nt'"])
    """
    return {line: frozenset(re.findall(r"sha256:(\w+)", hashes)) for line, hashes in _LOCKED.findall(text)}


def read_locks(root: Path) -> dict[str, frozenset[str]]:
    """Return what all dependency groups with a lock are installed from, as `parse_lock` does."""
    paths = sorted(path for pattern in _LOCKS for path in root.glob(pattern))
    return {line: hashes for path in paths for line, hashes in parse_lock(path.read_text("utf-8")).items()}
