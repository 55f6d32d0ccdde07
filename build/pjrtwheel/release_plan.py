# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What making a whole release will do, known before anything is started: builds, what is absent, and the commands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import count
from pjrtwheel.files import display_path
from pjrtwheel.grouping import group
from pjrtwheel.platforms import PLATFORMS, Platform
from pjrtwheel.record.entries import read_entries
from pjrtwheel.release.model import Release
from pjrtwheel.sets import BINDINGS
from pjrtwheel.sets.promised import promised_set

# The steps after the builds.
PRODUCTS = ("jaxlib-select", "pjrtwheel", "jaxlib-auto", "index")


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
        bindings = sum(name.startswith(f"{BINDINGS}-") for name in self.wheels)
        parts = ", ".join((*self.backends, f"jaxlib for {count(bindings, 'Python')}"))
        return f"{self.platform:<16}{parts}: {count(len(self.wheels), 'wheel')}, {self.there} of them there"


def plan_builds(release: Release, backends: Sequence[Backend], *, dist: Path, host: Platform) -> Iterator[PlannedBuild]:
    """Yield a build for each platform, that of this machine, `host`, first.

    Raises:
        FetchError: An input of a pinned library is not pinned.
    """
    promised = promised_set(release, backends, host)
    there = {name for name in read_entries(dist) if (dist / name).is_file()} if dist.is_dir() else set()
    for platform in dict.fromkeys((host, *PLATFORMS.values())):
        names = [name for name in promised if name.platform == platform]
        projects, wheels = {name.distribution for name in names}, tuple(name.filename for name in names)
        if wheels:
            own = tuple(backend.name for backend in backends if backend.distribution in projects)
            yield PlannedBuild(platform.name, own, wheels, len(there.intersection(wheels)))


def list_absent(release: Release, backends: Sequence[Backend]) -> Iterator[tuple[str, str]]:
    """Yield the wheels that a release does not have, though the backend has a tag for the platform, and why."""
    for backend in backends:
        without = (platform for platform in backend.tags if platform not in release.platforms(backend.name))
        absent = ((release.find_absent(f"plugin.{backend.name}.{platform}"), platform) for platform in without)
        causes = group((entry.cause if entry else "nobody has pinned it", platform) for entry, platform in absent)
        for cause, platforms in causes.items():
            yield f"{backend.name} for {', '.join(platforms)}", cause


def describe_plan(
    release: Release, backends: Sequence[Backend], builds: Sequence[PlannedBuild], dist: Path
) -> Iterator[str]:
    """Yield the lines of the plan for people."""
    wheels = sum(len(build.wheels) for build in builds)
    yield f"release {release.version}: {count(wheels, 'wheel')} of the set {release.set_version}"
    yield f"  into {display_path(dist)}"
    absent = [f"{what}: {cause}" for what, cause in list_absent(release, backends)]
    for title, texts in (("to build", [*map(str, builds), ", ".join(PRODUCTS)]), ("absent", absent)):
        yield from [title] if texts else []
        yield from (f"  {text}" for text in texts)


def list_steps(release: Release, builds: Sequence[PlannedBuild], *, smoke_tests: bool) -> dict[str, list[str]]:
    """Return, for each step of making a release, the words of its command: wheels first, then what is made of them."""
    version, proofs = ["--release", release.version], [] if smoke_tests else ["--no-smoke"]
    steps = {}
    for build in builds:
        which = "--all" if build.backends else "--bindings-only"
        steps[build.platform] = ["build", which, *version, "--platform", build.platform, *proofs]
    return steps | dict(zip(PRODUCTS, (["select"], ["tooling"], ["auto", *version], ["index"]), strict=True))
