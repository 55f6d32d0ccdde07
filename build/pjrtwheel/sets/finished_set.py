# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find a finished plugin together with the `jaxlib` of its set, which lies next to it or is published elsewhere.

A folder may have wheels of several releases, and of several sets of one release; they are never mixed.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from pjrtwheel.backend import Backend
from pjrtwheel.errors import ProofError, UsageError, WheelError, fit
from pjrtwheel.platforms import Platform
from pjrtwheel.release.known import choose_release, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.sets.published_set import Offer, choose_set, fetch_set, find_offer, list_folder, read_lock
from pjrtwheel.wheel.names import WheelName, find_plain_wheels, parse_name


@dataclass(frozen=True, slots=True)
class FinishedSet:
    """A plugin, and the `jaxlib` wheels of its set.

    Attributes:
        release: The JAX release.
        backend: The plugin's backend.
        plugin: The plugin's wheel.
        bindings: The name of one `jaxlib`.
        offer: Where all of these are.
    """

    release: Release
    backend: Backend
    plugin: Path
    bindings: WheelName
    offer: Offer

    def fetch(self, pythons: Sequence[str]) -> tuple[Path, ...]:
        """Return the `jaxlib` for some Pythons, or any one if there is none for these, and the plugin.

        Raises:
            FetchError: A wheel cannot be fetched.
            UsageError: A wheel is of no set.
            WheelError: The wheels carry different locks, or are damaged.
        """
        published = fetch_set(self.offer, self.bindings, pythons)
        if read_lock(self.plugin, self.backend.package) != published.lock:
            raise WheelError(
                f"{self.plugin.name} and the jaxlib of {self.offer.where} are not of one set",
                cause="they have one version, but different locks",
                remedy="build the plugin again, with --set if the jaxlib is somebody else's",
            )
        return (*(wheel.path for wheel in published.bindings), self.plugin)

    def fetch_pair(self, python: str) -> tuple[Path, ...]:
        """Return the two wheels for a Python, as `fetch` does.

        Raises:
            ProofError: There is none for it.
        """
        wheels = self.fetch([python])
        if not all(parse_name(wheel.name).fits(python) for wheel in wheels):
            raise ProofError(
                f"no wheels for {python} in the set {self.bindings.version}",
                cause=f"looked in {self.plugin.parent}, and for jaxlib in {self.offer.where}",
                remedy="name another Python with --python, or pin and build jaxlib for this one",
            )
        return wheels


def find_set(
    root: Path,
    dist: Path,
    backend: Backend,
    platform: Platform,
    cache: Path,
    *,
    release: str | None = None,
    where: str | None = None,
) -> FinishedSet:
    """Find the plugin of a backend in a folder, and say on stderr of which set it is.

    Without `where`, a version or what else `--set` takes, its `jaxlib` is in the same folder. Without a release as well
    it is that of the newest one in the folder, so the only set there is taken.

    Raises:
        UsageError: One of the two is not there, or the folder has plugins of several sets.
        FetchError: The place cannot be asked.
    """
    found = _Plugins(dist, backend, platform, _list_plugins(dist, backend, platform))
    if where is None:
        newest = None if release else found.newest_release()
        wanted = newest or choose_release(root, release, platform.name, backend.name).version
        offer = found.bindings_here(found.choose_version(wanted))
    else:
        offer = found.restrict(_list_own(dist, where) or find_offer(where, cache))
    chosen = choose_set(offer, release, platform)
    plugin = found.by_version[chosen.version]
    print(f"set {chosen.version}: {plugin}, jaxlib of {offer.where}", file=sys.stderr, flush=True)
    return FinishedSet(load_release(root, chosen.release), backend, plugin, chosen, offer)


@dataclass(frozen=True, slots=True)
class _Plugins:
    """The plugins of a backend in a folder, for one platform, by version."""

    dist: Path
    backend: Backend
    platform: Platform
    by_version: Mapping[str, Path]

    def newest_release(self) -> str | None:
        """Return the newest release of which there is a plugin."""
        return max(map(Version, self.by_version)).public if self.by_version else None

    def choose_version(self, release: str) -> str:
        """Return the version of the only set of a release that has a plugin."""
        what = f"{self.backend.distribution} {release}"
        found = sorted((text for text in self.by_version if Version(text).public == release), key=Version)
        if not found:
            raise UsageError(
                f"no wheel of {what} for {self.platform.name} in {self.dist}",
                remedy=f"build it with: ./noxw build_{self.backend.name}, or name another folder with --dist",
            )
        if len(found) > 1:
            raise UsageError(
                f"{self.dist} has {what} of {len(found)} sets: {fit(found)}",
                remedy=f"choose one, as with --set {found[-1]}",
            )
        return found[0]

    def bindings_here(self, version: str) -> Offer:
        """Return the `jaxlib` of a version in the same folder."""
        offer = _list_own(self.dist, version)
        if offer is None or all(name.platform != self.platform for name, _ in offer.wheels):
            raise UsageError(
                f"no wheel of jaxlib {version} for {self.platform.name} in {self.dist}",
                remedy=f"say where it is with --set FOLDER|URL|{version}, or build it: "
                f"./noxw build_{self.backend.name}",
            )
        return offer

    def restrict(self, offer: Offer) -> Offer:
        """Return of an offer the sets that there is a plugin of."""
        kept = tuple(wheel for wheel in offer.wheels if wheel[0].version in self.by_version)
        if not kept:
            raise UsageError(
                f"{self.dist} has no wheel of {self.backend.distribution} for {self.platform.name} "
                f"of a set of {offer.where}",
                cause=f"it has those of {fit(sorted(self.by_version, key=Version)) or 'none'}",
                remedy=f"build it with: ./noxw build_{self.backend.name} --set {offer.where}",
            )
        return Offer(offer.where, kept)


def _list_plugins(dist: Path, backend: Backend, platform: Platform) -> dict[str, Path]:
    ours = {path: name for path, name in find_plain_wheels(dist).items() if name.distribution == backend.distribution}
    return {name.version: path for path, name in ours.items() if name.platform == platform}


def _list_own(dist: Path, where: str) -> Offer | None:
    """Return the `jaxlib` of a version in the plugin's own folder; nothing for another place, or if there is none."""
    with contextlib.suppress(InvalidVersion):
        version = str(Version(where))
        found = tuple(wheel for wheel in (list_folder(dist) if dist.is_dir() else ()) if wheel[0].version == version)
        return Offer(str(dist), found) if found else None
    return None
