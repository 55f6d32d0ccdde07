# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Choose, from what the package index lists of a project, the files that a release takes, and say what is absent."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.release.model import Absent, Pin
from pjrtwheel.release.planned import WantedFiles
from pjrtwheel.wheel.names import WheelName, find_name


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the index has of the wanted files, and what it does not have."""

    pins: tuple[Pin, ...]
    absent: tuple[Absent, ...]


def choose_files(wanted: WantedFiles, files: Iterable[IndexFile], pythons: Sequence[str] = ()) -> Chosen:
    """Choose the files of one project.

    Args:
        wanted: What is looked for.
        files: All that the index has of the project; withdrawn files are passed over.
        pythons: Pythons that a file is looked for, by ABI tag, in addition to those that any platform has one for.
    """
    offered = list(_readable(files))
    versions = {name.version for name, _ in offered}
    version = find_version(wanted.version, versions)
    # By platform and ABI; a file that is for all Pythons has the ABI `none`.
    matching = [(_place(name), name, file) for name, file in offered if name.version == version]
    found = {abi for (platform, abi), _, _ in matching if platform in wanted.platforms}
    tags = sorted({*pythons, *found} - {"none"}) if wanted.per_python else [wanted.python]
    pins, absent = [], []
    for platform, tag in itertools.product(wanted.platforms, tags):
        key = wanted.key.format(python=tag, platform=platform)
        fitting = [(name, file) for place, name, file in matching if place == (platform, tag or "none")]
        if fitting:
            _, file = max(fitting, key=lambda entry: (entry[0].build_order, entry[1].filename))
            pins.append(Pin(key, wanted.project, version, file.filename, file.sha256, file.size))
        else:
            place = f"{tag} on {platform}" if tag else platform
            cause = f"the index has {wanted.project} {version}, but not for {place}"
            cause = cause if version else _explain_version(wanted, versions)
            absent.append(Absent(key, wanted.project, version or wanted.version, cause))
    return Chosen(tuple(pins), tuple(absent))


def find_version(wanted: str, offered: Iterable[str]) -> str:
    """Return the version that is meant, as the index spells it: the newest of a series; empty if there is none.

    >>> find_version("0.0.48.*", ["0.0.48", "0.0.48.1", "0.0.49"]), find_version("1.0", ["1.0.1"])
    ('0.0.48.1', '')
    """
    series = wanted.endswith(".*")
    start = Version(wanted.removesuffix(".*")).release
    for text in sorted(offered, key=Version, reverse=True):
        version = Version(text)
        within = (*version.release, *(0 for _ in start))[: len(start)] == start and not version.is_prerelease
        if within if series else version == Version(wanted):
            return text
    return ""


def offered_versions(files: Iterable[IndexFile]) -> tuple[str, ...]:
    """Return the versions of a project that the index offers, the newest last; withdrawn files are passed over."""
    return tuple(sorted({name.version for name, _ in _readable(files)}, key=Version))


def find_named(version: str, offered: Sequence[str]) -> str:
    """Return the release that a person named, as the index spells it.

    Raises:
        UsageError: It is no version.
        PinError: The index does not have it.
    """
    try:
        found = find_version(version, offered)
    except InvalidVersion as error:
        raise UsageError(f"no version of JAX: {version!r}", remedy="expected one such as 0.11.2") from error
    if not found:
        raise PinError(
            f"the package index has no release {version} of jax",
            cause=f"the newest it has: {', '.join(offered[:-6:-1]) or 'none'}",
            remedy="check the version, and the index that pip is configured for (pip config list)",
        )
    return found


def _readable(files: Iterable[IndexFile]) -> Iterator[tuple[WheelName, IndexFile]]:
    """Yield the files whose names can be read; an index may hold old ones under any name."""
    for file in files:
        name = find_name(file.filename)
        if name and file.yanked is None and not _only_musl(name):
            yield name, file


def _only_musl(name: WheelName) -> bool:
    """Whether a wheel is for Linux with musl, and not with glibc as well."""
    platforms = {tag.platform for tag in name.tags}
    return all(platform.startswith("musllinux") for platform in platforms)


def _place(name: WheelName) -> tuple[str, str]:
    """Return the platform and the ABI that a wheel is for."""
    return name.platform.name if name.platform else "", name.tags[0].abi


def _explain_version(wanted: WantedFiles, offered: set[str]) -> str:
    limit = Version(wanted.version.removesuffix(".*"))
    older = sorted((version for version in map(Version, offered) if version < limit), reverse=True)
    what = f"the index has no {wanted.project} {wanted.version}"
    return f"{what}; the newest before it is {older[0]}" if older else what
