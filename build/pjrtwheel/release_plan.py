# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What making a whole release will do, known before anything is started: builds, and what is absent."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import count
from pjrtwheel.files import display_path
from pjrtwheel.platforms import PLATFORMS, Platform
from pjrtwheel.record.entries import read_entries
from pjrtwheel.release.checks import list_bindings_alone, list_prebuilt
from pjrtwheel.release.model import Release
from pjrtwheel.sets.wheel_sets import promised_bindings, promised_plugin

PRODUCTS = ("jaxlib-select", "jaxlib-auto", "index")


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """The wheels of one platform.

    Attributes:
        platform: Name of the platform.
        backends: The backends that the release has a library of there; none where `jaxlib` is built alone.
        wheels: File names of all wheels that come out.
        there: How many of them are in the folder already.
    """

    platform: str
    backends: tuple[str, ...]
    wheels: tuple[str, ...]
    there: int

    def __str__(self) -> str:
        """The line of the plan."""
        bindings = len(self.wheels) - len(self.backends)
        return f"{self.platform:<16}{count(len(self.wheels), 'wheel')}, {self.there} of them there: " + ", ".join(
            (*self.backends, f"jaxlib for {count(bindings, 'Python')}")
        )


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """Everything that making a release does.

    Attributes:
        release: The release.
        dist: The folder that all goes to.
        builds: One for each platform, that of this machine first.
        absent: Backend and platforms of a wheel that the release does not have → why.
    """

    release: Release
    dist: Path
    builds: tuple[PlannedBuild, ...]
    absent: Mapping[str, str]

    def lines(self, width: int = 80) -> Iterator[str]:
        """Yield the plan for people, no line wider than the terminal where words allow it."""
        wheels = sum(len(build.wheels) for build in self.builds)
        yield f"release {self.release.version}: {count(wheels, 'wheel')} of the set {self.release.set_version}"
        yield f"  into {display_path(self.dist)}"
        sections = (
            ("to build", [str(build) for build in self.builds] + [f"{', '.join(PRODUCTS)}"]),
            ("absent", [f"{what}: {cause}" for what, cause in self.absent.items()]),
        )
        for title, texts in sections:
            yield from [title] if texts else []
            for text in texts:
                yield from textwrap.wrap(
                    text,
                    width,
                    initial_indent="  ",
                    subsequent_indent="    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )


def plan_release(release: Release, backends: Sequence[Backend], *, dist: Path, host: Platform) -> ReleasePlan:
    """Return what making a release does, on a machine with the platform `host`, of all backends there are."""
    known = {backend.name: backend for backend in backends}
    pairs = list_prebuilt(release, backends, host)
    names = dict.fromkeys((*(platform for _, platform in pairs), *list_bindings_alone(release, pairs)))
    platforms = sorted(names, key=lambda name: (name != host.name, list(PLATFORMS).index(name)))
    there = {name for name in read_entries(dist) if (dist / name).is_file()} if dist.is_dir() else set()
    chosen = {name: [known[backend] for backend, platform in pairs if platform == name] for name in platforms}
    return ReleasePlan(
        release=release,
        dist=dist,
        builds=tuple(_plan_build(release, name, chosen[name], there) for name in platforms),
        absent=dict(_list_absent(release, backends)),
    )


def _plan_build(release: Release, platform: str, backends: Sequence[Backend], there: set[str]) -> PlannedBuild:
    plugins = [promised_plugin(backend, platform, release.set_version) for backend in backends]
    wheels = tuple(name.filename for name in (*promised_bindings(release, platform), *plugins))
    return PlannedBuild(platform, tuple(backend.name for backend in backends), wheels, len(there & {*wheels}))


def _list_absent(release: Release, backends: Sequence[Backend]) -> Iterator[tuple[str, str]]:
    """Yield the wheels that a release does not have, though the backend has a tag for the platform, and why."""
    for backend in backends:
        causes: dict[str, list[str]] = {}
        for platform in backend.tags:
            missing = release.find_absent(f"plugin.{backend.name}.{platform}")
            if platform not in release.platforms(backend.name):
                causes.setdefault(missing.cause if missing else "nobody has pinned it", []).append(platform)
        for cause, platforms in causes.items():
            yield f"{backend.name} for {', '.join(platforms)}", cause
