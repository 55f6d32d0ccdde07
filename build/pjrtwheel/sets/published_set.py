# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find a set of wheels that is published already, so that one more plugin can be built for it.

All that is taken of it is its `jaxlib`: the lock in it, and the wheels for proofs. They are in a folder, on a static
index, next to a `release.json`, or on the package index that pip is configured for.
"""

from __future__ import annotations

import functools
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from pjrtwheel.errors import FetchError, UsageError, WheelError, fit
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.index import download_wheel
from pjrtwheel.fetch.listing import (
    IndexFile,
    is_address,
    list_wheels,
    read_document,
    read_settings,
    settings_for,
    without_login,
)
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import Platform
from pjrtwheel.record.entries import RELEASE_FILENAME, parse_entries, read_entries
from pjrtwheel.release.model import Pin
from pjrtwheel.release.wheels import LOCK_FILENAME, SCHEMA, ReleaseLock
from pjrtwheel.sets.projects import BINDINGS
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.wheel.names import WheelName, find_name, find_plain_wheels, parse_name
from pjrtwheel.wheel.read.directory import open_wheel
from pjrtwheel.wheel.report import BuiltWheel, report_finished

_FORMS = "--set takes a folder of wheels, an index or release.json by its URL, or a version as 0.11.2+split.1"


@dataclass(frozen=True, slots=True)
class Offer:
    """The `jaxlib` wheels of some place, none of which was fetched yet.

    Attributes:
        where: The place without credentials, for messages.
        wheels: Name of each, and what brings it onto this disk.
    """

    where: str
    wheels: tuple[tuple[WheelName, Callable[[], Path]], ...]


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
        WheelError: Its `release.json` is damaged.
    """
    if is_address(where):
        offer = Offer(without_login(where), _list_url(where, cache))
    elif Path(where).exists():
        offer = Offer(where, list_folder(Path(where)))
    else:
        offer = Offer(where, _list_version(where, cache))
    if not offer.wheels:
        raise UsageError(f"{offer.where} has no {BINDINGS} wheel, so it is no set", remedy=_FORMS)
    return offer


def choose_set(offer: Offer, release: str | None, platform: Platform) -> WheelName:
    """Return the name of a `jaxlib` of the newest set for a platform, of one release if it is named.

    Raises:
        UsageError: There is none; the message says what there is.
    """
    names = [name for name, _ in offer.wheels]
    fitting = [name for name in names if name.platform == platform and release in {None, name.release}]
    if not fitting:
        found = sorted({f"{name.version} for {name.platform.name if name.platform else name.tag}" for name in names})
        raise UsageError(
            f"{offer.where} has no {BINDINGS}{f' {release}' if release else ''} for {platform.name}",
            cause=f"it has {fit(found)}",
            remedy="choose another --release or --platform, or another set",
        )
    return max(fitting, key=lambda name: Version(name.version))


def fetch_set(offer: Offer, chosen: WheelName, pythons: Sequence[str]) -> PublishedSet:
    """Fetch the `jaxlib` of a set for some Pythons, or one to read the lock from if there is none for these.

    Raises:
        FetchError: A wheel cannot be fetched.
        UsageError: It is of no set, such as upstream's.
        WheelError: It is damaged.
    """
    alike = [
        (name, fetch)
        for name, fetch in offer.wheels
        if (name.version, name.platform) == (chosen.version, chosen.platform)
    ]
    wanted = [fetch for name, fetch in alike if any(map(name.fits, pythons))] or [alike[0][1]]
    paths = [fetch() for fetch in wanted]
    locks = {path: read_lock(path) for path in paths}
    lock = locks[paths[0]]
    if set(locks.values()) != {lock}:
        raise WheelError(f"the {BINDINGS} wheels of {offer.where} carry different locks", remedy="choose another set")
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
    if (lock.version, lock.release) != (name.version, name.release):
        raise WheelError(f"{wheel.name} has the lock of {lock.version}", cause="it was renamed, or is damaged")
    if lock.schema != SCHEMA:
        raise WheelError(f"the lock of {wheel.name} has schema {lock.schema}, expected {SCHEMA}")
    return lock


def list_folder(folder: Path) -> tuple[tuple[WheelName, Callable[[], Path]], ...]:
    """List the `jaxlib` wheels of a folder; what its `release.json` describes is held to that when it is fetched."""
    if folder.name == RELEASE_FILENAME:
        folder = folder.parent
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", remedy=_FORMS)
    digests = {name: entry.sha256 for name, entry in read_entries(folder).items()}
    return tuple(
        (name, functools.partial(_check_file, path.absolute(), digests.get(path.name)))
        for path, name in find_plain_wheels(folder).items()
        if name.distribution == BINDINGS
    )


def _check_file(path: Path, digest: str | None) -> Path:
    if digest and hash_file(path) != digest:
        raise WheelError(f"{path} is not the file that {RELEASE_FILENAME} describes", remedy="copy the folder again")
    return path


def _list_url(url: str, cache: Path) -> tuple[tuple[WheelName, Callable[[], Path]], ...]:
    """List the wheels of an index, or next to a `release.json`."""
    try:
        if urllib.parse.urlsplit(url).path.endswith(f"/{RELEASE_FILENAME}"):
            return _list_document(url, cache)
        files = list_wheels(BINDINGS, settings_for(url))
    except FetchError as error:
        raise FetchError(
            f"{without_login(url)} cannot be read", cause=error.cause or error.what, remedy="check the address"
        ) from error
    return _pinned(files, functools.partial(download_wheel, index=url), cache)


def _list_document(url: str, cache: Path) -> tuple[tuple[WheelName, Callable[[], Path]], ...]:
    entries = parse_entries(read_document(url, read_settings().certificate))
    found = [
        _pinned(
            [IndexFile(entry.filename, entry.sha256, entry.size)],
            functools.partial(download_wheel, url=urllib.parse.urljoin(url, urllib.parse.quote(entry.filename))),
            cache,
        )
        for entry in entries.values()
        if entry.distribution == BINDINGS
    ]
    return tuple(wheel for wheels in found for wheel in wheels)


def _list_version(text: str, cache: Path) -> tuple[tuple[WheelName, Callable[[], Path]], ...]:
    """List the wheels of one version on the index that pip is configured for."""
    try:
        version = str(Version(text))
    except InvalidVersion:
        raise UsageError(f"no such set: {text!r}", cause="it is no folder, URL or version", remedy=_FORMS) from None
    listed = _pinned(list_wheels(BINDINGS, read_settings()), download_wheel, cache)
    return tuple((name, fetch) for name, fetch in listed if name.version == version)


def _pinned(
    files: Iterable[IndexFile], download: Callable[[Pin, Path], Path], cache: Path
) -> tuple[tuple[WheelName, Callable[[], Path]], ...]:
    """Return files of an index as what can be fetched into the cache."""
    kept = WheelCache(cache, download)
    found = []
    for file in files:
        name = find_name(file.filename)
        if name is None or file.yanked:
            continue
        pin = Pin(f"set.{BINDINGS}", BINDINGS, name.version, file.filename, file.sha256, file.size)
        found.append((name, functools.partial(kept.fetch, pin)))
    return tuple(found)
