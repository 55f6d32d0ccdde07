# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Published sets, to build or prove a plugin for.

All that is taken of one is its `jaxlib`: the lock in it, and the wheels for proofs. They are in a folder, on a static
index, or on the package index that pip is configured for. A folder may have wheels of several releases, and of several
sets of one release; they are never mixed.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from pjrtwheel.errors import UsageError, WheelError, fit
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.index import download_wheel
from pjrtwheel.fetch.listing import IndexFile, list_wheels
from pjrtwheel.fetch.settings import is_address, read_settings, settings_for, without_login
from pjrtwheel.platforms import Platform
from pjrtwheel.release.model import Pin
from pjrtwheel.release.wheels import LOCK_FILENAME, SCHEMA, ReleaseLock
from pjrtwheel.sets import BINDINGS
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.names import WheelName, find_name, find_plain_wheels, parse_name
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
