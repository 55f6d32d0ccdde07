# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""List the files that a release takes from the package index, choose them from what it has, and say what is absent.

All of this is functions from values to values.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.version import InvalidVersion, Version

from pjrtwheel.backend import Backend, merge_tools
from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.model import LABEL, Absent, Override, Pin
from pjrtwheel.tables import column
from pjrtwheel.wheel.names import WheelName, find_name


@dataclass(frozen=True, slots=True)
class WantedFiles:
    """Files of one version of a project: an entry of `releases/inputs.toml`, or what a backend takes.

    Attributes:
        key: Place of their pins, with `{platform}`, and with `{python}` where each Python has a file.
        project: Project name on the index.
        version: The version, in the file with `{release}` for the JAX release; of one that ends in `.*` the newest is
            taken.
        platforms: Platforms that a file is looked for; in the file none for all that wheels are made for.
        python: ABI tag of the Python whose file is taken, where the index has several and the key names none.
    """

    key: str
    project: str
    version: str
    platforms: tuple[str, ...] = ()
    python: str = ""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The file `releases/inputs.toml`: what releases take from the index, and the label that their sets get.

    Attributes:
        input: What they take.
        label: The label that a set gets when its release is pinned.
    """

    input: tuple[WantedFiles, ...]
    label: str = column(pattern=LABEL, default="")


def plan_inputs(
    inputs: Inputs,
    backends: Iterable[Backend],
    release: str,
    *,
    series: Mapping[str, str],
    overrides: Iterable[Override] = (),
) -> tuple[WantedFiles, ...]:
    """List all files that a release takes from the index.

    They are what `releases/inputs.toml` names, and the prebuilt library, kernels and tools of each backend.
    `series` gives, for a requirement such as `jax[tpu]`, the version that it names.

    Raises:
        UsageError: Two backends mean different tools by one name.
    """
    named = [
        replace(entry, version=entry.version.format(release=release), platforms=entry.platforms or tuple(PLATFORMS))
        for entry in inputs.input
    ]
    known = tuple(backends)
    instead = {entry.backend: entry.version for entry in overrides}
    tools = [
        WantedFiles(f"tool.{name}.{{platform}}", tool.project, tool.version, tool.platforms)
        for name, tool in merge_tools(known).items()
    ]
    planned = (
        wanted for backend in known for wanted in _plan_backend(backend, instead.get(backend.name, release), series)
    )
    return (*named, *planned, *tools)


def _plan_backend(backend: Backend, version: str, series: Mapping[str, str]) -> Iterator[WantedFiles]:
    """List the library and the kernels of one backend, `version` standing for the JAX release; see `plan_inputs`."""
    library, kernels, platforms = backend.prebuilt, backend.kernels, tuple(backend.tags)
    wanted = series[library.required_by] if library.required_by else library.version.format(release=version)
    yield WantedFiles(f"plugin.{backend.name}.{{platform}}", library.project, wanted, platforms, library.python)
    if kernels:
        wanted = kernels.version.format(release=version)
        yield WantedFiles(f"kernels.{backend.name}.{{python}}.{{platform}}", kernels.project, wanted, platforms)


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
    tags = sorted({*pythons, *found} - {"none"}) if "{python}" in wanted.key else [wanted.python]
    pins, absent = [], []
    for platform, tag in itertools.product(wanted.platforms, tags):
        key = wanted.key.format(python=tag, platform=platform)
        fitting = [(name, file) for place, name, file in matching if place == (platform, tag or "none")]
        if fitting:
            _, file = max(fitting, key=lambda entry: (entry[0].build_order, entry[1].filename))
            pins.append(Pin(key, wanted.project, version, file.filename, file.sha256, file.size))
        else:
            place = f"{tag} on {platform}" if tag else platform
            cause = f"the package index has {wanted.project} {version}, but not for {place}"
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
        # Without those that are for Linux with musl, and not with glibc as well.
        if name and file.yanked is None and not all(tag.platform.startswith("musllinux") for tag in name.tags):
            yield name, file


def _place(name: WheelName) -> tuple[str, str]:
    """Return the platform and the ABI that a wheel is for."""
    return name.platform.name if name.platform else "", name.tags[0].abi


def _explain_version(wanted: WantedFiles, offered: set[str]) -> str:
    limit = Version(wanted.version.removesuffix(".*"))
    older = sorted((version for version in map(Version, offered) if version < limit), reverse=True)
    what = f"the package index has no {wanted.project} {wanted.version}"
    return f"{what}; the newest before it is {older[0]}" if older else what
