# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A finished plugin with the `jaxlib` and the kernels of its set, to prove it."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from pjrtwheel.backend import FILENAME, Backend, load_backends, parse_backend
from pjrtwheel.errors import ProofError, UsageError, WheelError, fit
from pjrtwheel.platforms import Platform
from pjrtwheel.release.known import choose_release, is_version, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.sets.published import Offer, choose_set, fetch_set, find_offer, list_folder, read_lock
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.names import backend_member, find_plain_wheels, parse_name


@dataclass(frozen=True, slots=True)
class FinishedSet:
    """A plugin, and the `jaxlib` wheels of its set.

    Attributes:
        release: The JAX release.
        backend: The plugin's backend.
        plugin: The plugin's wheel.
        bindings: Its `jaxlib`.
        kernels: Its kernels, if it has any.
    """

    release: Release
    backend: Backend
    plugin: Path
    bindings: Offer
    kernels: tuple[Path, ...] = ()

    def fetch(self, pythons: Sequence[str]) -> tuple[Path, ...]:
        """Return `jaxlib` and kernels for some Pythons, or any one if there is none for these, and the plugin.

        Raises:
            FetchError: A wheel cannot be fetched.
            UsageError: A wheel is of no set.
            WheelError: The wheels carry different locks, or are damaged.
        """
        own = read_lock(self.plugin, self.backend.package)
        if not own.lock_id:  # it is for upstream's jaxlib, which has none either
            upstream = [fetch for name, fetch in self.bindings.wheels if any(map(name.fits, pythons))]
            return (*(fetch() for fetch in upstream), self.plugin)
        published = fetch_set(self.bindings, pythons)
        fitting = [path for path in self.kernels if any(map(parse_name(path.name).fits, pythons))]
        kernels = fitting or self.kernels[:1]
        locks = [read_lock(path, self.backend.kernels_package) for path in kernels]
        if {own, *locks} != {published.lock}:
            raise WheelError(
                f"{self.plugin.name} and the jaxlib of {self.bindings.where} are not of one set",
                cause="they have one version, but different locks",
                remedy="build the plugin again, with --set if the jaxlib is somebody else's",
            )
        return (*(wheel.path for wheel in published.bindings), self.plugin, *kernels)

    def fetch_pair(self, python: str) -> tuple[Path, ...]:
        """Return the wheels for a Python, as `fetch` does.

        Raises:
            ProofError: There is none for it.
        """
        wheels = self.fetch([python])
        if not all(parse_name(wheel.name).fits(python) for wheel in wheels):
            raise ProofError(
                f"no wheels for {python} in the set {self.bindings.name.version}",
                cause=f"looked in {self.plugin.parent}, and for jaxlib in {self.bindings.where}",
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
    here = {path: name for path, name in find_plain_wheels(dist).items() if name.platform == platform}
    plugins = {name.version: path for path, name in here.items() if name.distribution == backend.distribution}
    offer = _list_own(dist, where)
    if where is None:
        newest = max(map(Version, plugins)).public if plugins and not release else release
        release = choose_release(root, newest, platform.name, backend.name).version
    elif not offer.wheels:
        offer = find_offer(where, cache)
    there = plugins if where is None else {name.version for name, _ in offer.wheels}
    fitting = {text for text in plugins if text in there and release in {None, text, Version(text).public}}
    versions = sorted(fitting, key=Version)
    what = f"{backend.distribution}{f' {release}' if release else ''} for {platform.name}"
    if not versions:
        raise UsageError(
            f"no wheel of {what} in {dist}{f', of a set of {offer.where}' if where else ''}",
            cause=f"it has {fit(sorted(plugins, key=Version)) or 'none'}; name another folder with --dist",
            remedy=f"build it with: ./noxw build_{backend.name}{f' --set {offer.where}' if where else ''}",
        )
    if where is None and versions[1:]:
        remedy = f"choose one, as with --set {versions[-1]}"
        raise UsageError(f"{dist} has {what} of {len(versions)} sets: {fit(versions)}", remedy=remedy)
    kept = Offer(offer.where, tuple((name, fetch) for name, fetch in offer.wheels if name.version in fitting))
    chosen = choose_set(kept, versions[0] if where is None else release, platform)
    plugin = plugins[chosen.name.version]
    print(f"set {chosen.name.version}: {plugin}, jaxlib of {offer.where}", file=sys.stderr, flush=True)
    return _finish(root, backend, plugin, chosen)


def find_set_of(
    root: Path,
    plugin: Path,
    backend: Backend | None,
    platform: Platform,
    cache: Path,
    *,
    release: str | None = None,
    where: str | None = None,
) -> FinishedSet:
    """Find what a plugin's wheel is proven with: the `jaxlib` that it locks, in its folder or `where` else it is.

    Without a backend it is the one that the wheel names. A wheel may lock several releases of upstream's `jaxlib`: it
    is the newest unless one is named.

    Raises:
        UsageError: The wheel does not describe its backend, or is for another platform, or there is no such `jaxlib`.
        FetchError: The place cannot be asked.
    """
    backend = backend or read_backend(root, plugin)
    if parse_name(plugin.name).platform != platform:
        raise UsageError(f"{plugin.name} is for another platform", remedy=f"prove it there; this is {platform.name}")
    lock = read_lock(plugin, backend.package)
    version = release or lock.version
    oldest = lock.version if lock.lock_id else lock.release
    if not (is_version(version.partition("+")[0]) and Version(oldest) <= Version(version) <= Version(lock.version)):
        raise UsageError(f"{plugin.name} is not for {version}", cause=f"it requires {lock.requirement}")
    offer = _list_own(plugin.parent, where or version)
    if lock.lock_id and not (offer.wheels or where):
        raise UsageError(f"no jaxlib {version} next to {plugin.name}", remedy="name its folder or index with --set")
    chosen = choose_set(offer if offer.wheels else find_offer(where or version, cache), version, platform)
    print(f"set {version}: {plugin}, jaxlib of {chosen.where}", file=sys.stderr, flush=True)
    return _finish(root, backend, plugin, chosen)


def _finish(root: Path, backend: Backend, plugin: Path, chosen: Offer) -> FinishedSet:
    """Return a plugin's set with its kernels, which are in the same folder."""
    name = chosen.name
    wanted = (backend.kernels_distribution, name.version, name.platform)
    here = find_plain_wheels(plugin.parent).items()
    kernels = tuple(path for path, own in here if (own.distribution, own.version, own.platform) == wanted)
    return FinishedSet(load_release(root, name.release), backend, plugin, chosen, kernels)


def read_backend(root: Path, plugin: Path) -> Backend:
    """Return the backend of a plugin's wheel: one below `root`, or else the one that the wheel describes.

    Raises:
        UsageError: It describes none.
        WheelError: It is damaged or hostile.
    """
    distribution = parse_name(plugin.name).distribution
    for backend in load_backends(root).values():
        if backend.distribution == distribution:
            return backend
    member = backend_member(distribution)
    try:
        with open_wheel(plugin) as archive:
            text = archive.read(member).decode()
    except KeyError as error:
        cause = f"it holds no {member}: it is no plugin, or was made by other tools"
        raise UsageError(f"{plugin.name} describes no backend", cause=cause, remedy="wrap its library") from error
    return parse_backend(text, plugin / distribution.removeprefix("jaxlib-") / FILENAME, ignore_unknown=True)


def _list_own(dist: Path, where: str | None = None) -> Offer:
    """Return the `jaxlib` wheels in the plugin's own folder; those of a version alone if that is named."""
    listed = list_folder(dist) if dist.is_dir() else ()
    return Offer(str(dist), tuple(wheel for wheel in listed if where in {None, wheel[0].version}))
