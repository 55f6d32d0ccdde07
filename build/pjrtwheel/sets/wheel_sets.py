# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of wheels: published ones, to build a plugin for; those with a finished plugin, to prove it; promised ones.

All that is taken of a published set is its `jaxlib`: the lock in it, and the wheels for proofs. They are in a folder,
on a static index, or on the package index that pip is configured for. A folder may have
wheels of several releases, and of several sets of one release; they are never mixed.
"""

import functools
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from pjrtwheel.abis import plugin_tag
from pjrtwheel.backend import FILENAME, Backend, load_backends, parse_backend
from pjrtwheel.errors import ProofError, UsageError, WheelError, fit
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.index import download_wheel
from pjrtwheel.fetch.listing import (
    IndexFile,
    is_address,
    list_wheels,
    read_settings,
    settings_for,
    without_login,
)
from pjrtwheel.platforms import PLATFORMS, REFERENCE, Platform
from pjrtwheel.release.checks import list_prebuilt
from pjrtwheel.release.known import choose_release, is_version, list_releases, load_release
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.release.wheels import LOCK_FILENAME, SCHEMA, ReleaseLock
from pjrtwheel.sets import BINDINGS
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.names import WheelName, find_name, find_plain_wheels, make_name, parse_name
from pjrtwheel.wheel.report import BuiltWheel, report_finished

Wheels = tuple[tuple[WheelName, Callable[[], Path]], ...]  # name of each, and what brings it onto this disk
_FORMS = "--set takes a folder of wheels, an index by its URL, or a version as 0.11.2+split.1"


@dataclass(frozen=True, slots=True)
class Offer:
    """The `jaxlib` wheels of some place, all or those of one set, none of which was fetched yet.

    Attributes:
        where: The place without credentials, for messages.
        wheels: The wheels.
    """

    where: str
    wheels: Wheels

    @property
    def name(self) -> WheelName:
        """Name of the first wheel, which says release and version of a set."""
        return self.wheels[0][0]


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """A set that somebody published.

    Attributes:
        lock: Its lock, which a plugin for it carries as well.
        bindings: Its `jaxlib`, for the Pythons that were asked for.
    """

    lock: ReleaseLock
    bindings: tuple[BuiltWheel, ...]


def find_offer(where: str, cache: Path) -> Offer:
    """List the `jaxlib` wheels at a place; downloads are kept in the cache.

    Raises:
        UsageError: It is no folder, URL or version, or there are none.
        FetchError: It cannot be asked.
    """
    if is_address(where):
        files = list_wheels(BINDINGS, settings_for(where))
        offer = Offer(without_login(where), _pinned(files, functools.partial(download_wheel, index=where), cache))
    elif Path(where).exists():
        offer = Offer(where, list_folder(Path(where)))
    else:
        offer = Offer(where, _list_version(where, cache))
    if not offer.wheels:
        raise UsageError(f"{offer.where} has no {BINDINGS} wheel, so it is no set", remedy=_FORMS)
    return offer


def choose_set(offer: Offer, release: str | None, platform: Platform) -> Offer:
    """Return the newest set of an offer for a platform, of one release or version if it is named.

    Raises:
        UsageError: There is none; the message says what there is.
    """
    version = choose_version(offer.where, [name for name, _ in offer.wheels], release, platform)
    here = ((name, fetch) for name, fetch in offer.wheels if name.platform == platform and name.version == version)
    return Offer(offer.where, tuple(here))


def choose_version(where: str, names: Sequence[WheelName], release: str | None, platform: Platform) -> str:
    """Return the newest version of the `jaxlib` wheels at a place for a platform; see `choose_set`."""
    here = {name.version: name.release for name in names if name.platform == platform}
    versions = [version for version, own in here.items() if release in {None, own, version}]
    if not versions:
        found = sorted({f"{name.version} for {name.platform.name if name.platform else name.tag}" for name in names})
        raise UsageError(
            f"{where} has no {BINDINGS}{f' {release}' if release else ''} for {platform.name}",
            cause=f"it has {fit(found) or 'none'}",
            remedy="choose another release, platform or place",
        )
    return max(versions, key=Version)


def fetch_set(chosen: Offer, pythons: Sequence[str]) -> PublishedSet:
    """Fetch the `jaxlib` of a set for some Pythons, or one to read the lock from if there is none for these.

    Raises:
        FetchError: A wheel cannot be fetched.
        UsageError: It is of no set, such as upstream's.
        WheelError: It is damaged.
    """
    wanted = [fetch for name, fetch in chosen.wheels if any(map(name.fits, pythons))] or [chosen.wheels[0][1]]
    paths = [fetch() for fetch in wanted]
    locks = {path: read_lock(path) for path in paths}
    lock = locks[paths[0]]
    if set(locks.values()) != {lock}:
        raise WheelError(f"the {BINDINGS} wheels of {chosen.where} carry different locks", remedy="choose another set")
    return PublishedSet(
        lock, tuple(BuiltWheel(path, report_finished(path, lock.lock_id, lock.provider)) for path in paths)
    )


def read_lock(wheel: Path, package: str = BINDINGS) -> ReleaseLock:
    """Return the lock of a wheel of ours, whose package has it.

    Raises:
        UsageError: It has none, such as upstream's.
        WheelError: It is damaged or hostile, or its lock is of another version than its name.
    """
    name = parse_name(wheel.name)
    try:
        with open_wheel(wheel) as archive:
            data = archive.read(f"{package}/{LOCK_FILENAME}")
        lock = read_json(ReleaseLock, data, ignore_unknown=True)
    except KeyError as error:
        raise UsageError(
            f"{wheel.name} belongs to no set: it holds no {LOCK_FILENAME}",
            cause="it is upstream's, or was made by other tools",
            remedy="name the set by its version, as in --set 0.11.2+split.1, or its release by --release",
        ) from error
    except TableError as error:
        raise WheelError(f"cannot read the lock of {wheel}", cause=str(error)) from error
    release = name.release if lock.lock_id else lock.release  # of upstream's jaxlib, that is the oldest one
    if (lock.schema, lock.version, lock.release) != (SCHEMA, name.version, release):
        found = f"{wheel.name} has the lock of {lock.version} with schema {lock.schema}"
        raise WheelError(found, cause=f"it was renamed, is damaged, or newer; expected is schema {SCHEMA}")
    return lock


def list_folder(folder: Path) -> Wheels:
    """List the `jaxlib` wheels of a folder."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", remedy=_FORMS)
    return tuple(
        (name, path.absolute) for path, name in find_plain_wheels(folder).items() if name.distribution == BINDINGS
    )


def _list_version(text: str, cache: Path) -> Wheels:
    """List the wheels of one version on the index that pip is configured for."""
    try:
        version = str(Version(text))
    except InvalidVersion:
        raise UsageError(f"no such set: {text!r}", cause="it is no folder, URL or version", remedy=_FORMS) from None
    listed = _pinned(list_wheels(BINDINGS, read_settings()), download_wheel, cache)
    return tuple((name, fetch) for name, fetch in listed if name.version == version)


def _pinned(files: Iterable[IndexFile], download: Callable[[Pin, Path], Path], cache: Path) -> Wheels:
    """Return files of an index as what can be fetched into the cache."""
    kept = WheelCache(cache, download)
    found = []
    for file in files:
        name = find_name(file.filename)
        if name is None or file.yanked is not None:
            continue
        pin = Pin(f"set.{BINDINGS}", BINDINGS, name.version, file.filename, file.sha256, file.size)
        found.append((name, functools.partial(kept.fetch, pin)))
    return tuple(found)


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
    member = f"{distribution.replace('-', '_')}/{FILENAME}"
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


def promised_bindings(release: Release, platform: str) -> tuple[WheelName, ...]:
    """Return the names of the `jaxlib` wheels for a platform, one for each Python."""
    pins = (release.pin(f"bindings.{python}.{platform}") for python in release.pythons(platform))
    upstream = (parse_name(pin.filename) for pin in pins)
    return tuple(make_name(name.distribution, release.set_version, name.tag, release.build_tag) for name in upstream)


def promised_plugin(backend: Backend, release: Release, platform: str, version: str) -> tuple[WheelName, ...]:
    """Return the names of a backend's wheels for a platform, of the set with a version: the plugin, then kernels."""
    plugin = make_name(backend.distribution, version, plugin_tag(backend.python_tag, backend.tags[platform]))
    pythons = release.kernels(backend.name, platform) if backend.kernels else ()
    pins = (release.pin(f"kernels.{backend.name}.{python}.{platform}") for python in pythons)
    tags = (parse_name(pin.filename).tag for pin in pins)
    return (plugin, *(make_name(backend.kernels_distribution, version, tag) for tag in tags))


def list_promised(root: Path, version: str, backends: Collection[Backend], platform: Platform) -> tuple[WheelName, ...]:
    """Return the wheels for a platform that the release file of a set promises; none if the set is somebody else's.

    Raises:
        PinError: A release file is malformed.
        FetchError: An input of a pinned library is not pinned.
    """
    releases = (load_release(root, known) for known in list_releases(root))
    promised = (promised_set(release, backends, REFERENCE) for release in releases if release.set_version == version)
    return tuple(name for name in next(promised, ()) if name.platform == platform)


def promised_set(release: Release, backends: Iterable[Backend], host: Platform) -> tuple[WheelName, ...]:
    """Return the names of all wheels of a release whose inputs are pinned, by what one `host` can build.

    Raises:
        FetchError: An input of a pinned library is not pinned.
    """
    bindings = [name for platform in PLATFORMS for name in promised_bindings(release, platform)]
    version, pairs = release.set_version, list_prebuilt(release, backends, host)
    plugins = [name for backend, platform in pairs for name in promised_plugin(backend, release, platform, version)]
    return (*bindings, *plugins)
