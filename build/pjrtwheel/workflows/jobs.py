# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which jobs continuous integration has: wheels to build, releases to join and test, machines to start wheels on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pjrtwheel.abis import name_python, python_version
from pjrtwheel.backend import Backend
from pjrtwheel.platforms import PLATFORMS, REFERENCE
from pjrtwheel.release.checks import list_bindings_alone, list_prebuilt
from pjrtwheel.release.model import Release

# What GitHub calls its machines.
_RUNNERS = {
    "linux_x86_64": "ubuntu-24.04",
    "linux_aarch64": "ubuntu-24.04-arm",
    "macos_arm64": "macos-15",
    "windows_x86_64": "windows-2025",
}
BINDINGS_ALONE = "jaxlib"  # as in the name of the session that builds bindings alone


@dataclass(frozen=True, slots=True)
class WheelJob:
    """Build the wheels of one backend, or of `jaxlib` alone where a platform has no backend.

    The same bytes come out on any machine, but only on the wheels' own platform is there anything to prove.

    Attributes:
        pythons: Those to install for proofs, see `install_order`.
    """

    release: str
    backend: str
    platform: str
    runner: str
    pythons: str


@dataclass(frozen=True, slots=True)
class ReleaseJob:
    """Put the wheels of a release into one folder, and run all tests on them.

    Attributes:
        artifacts: Pattern of what wheel jobs have uploaded, by release, backend and platform.
        tested: Whether the tests can run: they need the library for the CPU of their platform.
        pythons: Those to install for the tests, see `install_order`.
    """

    release: str
    artifacts: str
    tested: bool
    pythons: str


@dataclass(frozen=True, slots=True)
class NativeJob:
    """Run `jaxlib` on one Python of a system on which nothing is built."""

    release: str
    platform: str
    runner: str
    python: str


@dataclass(frozen=True, slots=True)
class AcceleratorJob:
    """Prove the wheels of one backend on a machine that has its hardware, and hand back nothing but the proofs.

    Attributes:
        labels: What the self-hosted runner is found by.
        pythons: Those to install for proofs, see `install_order`.
    """

    release: str
    backend: str
    platform: str
    labels: tuple[str, ...]
    pythons: str


@dataclass(frozen=True, slots=True)
class Jobs:
    """All jobs of one run."""

    wheels: tuple[WheelJob, ...]
    releases: tuple[ReleaseJob, ...]
    native: tuple[NativeJob, ...]
    accelerators: tuple[AcceleratorJob, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """The wheels that a run is restricted to.

    Attributes:
        backends: Their names, `jaxlib` for bindings alone; empty for all.
        platforms: Names of platforms; empty for all.
    """

    backends: frozenset[str] = frozenset()
    platforms: frozenset[str] = frozenset()

    def has(self, backend: str, platform: str) -> bool:
        """Return whether the wheels of a backend for a platform are built."""
        return (not self.backends or backend in self.backends) and (not self.platforms or platform in self.platforms)


ALL = Selection()


def list_jobs(
    releases: Sequence[Release],
    backends: Collection[Backend],
    *,
    once: bool = False,
    selection: Selection = ALL,
    machines: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
) -> Jobs:
    """Return the jobs for some releases, the newest of which comes last.

    `once` is for changes of the repository: each backend and platform is built once, out of the newest release that has
    it. One release is built whole: the newest that can be tested, or else the newest. `machines` has the labels of the
    runner for each backend and platform that can be proven on an accelerator (`read_machines`).

    Raises:
        FetchError: An input of a pinned library is not pinned.
    """
    newest_first = list(reversed(releases))
    places = {release.version: _places(release, backends, selection) for release in newest_first}
    cpu_places = {(backend.name, REFERENCE.name) for backend in backends if backend.is_cpu}
    tested = {version for version in places if not cpu_places.isdisjoint(places[version])}
    whole = [release for release in newest_first if places[release.version]]
    if once:
        whole = sorted(whole, key=lambda release: release.version not in tested)[:1]
    first = {place: version for version in reversed(places) for place in places[version]}
    wheels = [
        _wheel_job(release, *place)
        for release in newest_first
        for place in places[release.version]
        if not once or release in whole or first[place] == release.version
    ]
    return Jobs(
        tuple(wheels),
        tuple(
            ReleaseJob(
                entry.version,
                "dist-*" if once else f"dist-{entry.version}-*",
                entry.version in tested,
                _pythons(entry, REFERENCE.name),
            )
            for entry in whole
        ),
        tuple(job for entry in newest_first for job in _native_jobs(entry, wheels)),
        tuple(_accelerator_jobs(wheels, machines or {})),
    )


def install_order(pythons: Iterable[str]) -> str:
    """Return Pythons, given by ABI tag, as a list for `actions/setup-python`, one per line.

    The last is the one that `python3` starts. It is the oldest with the GIL, for which all that the tools need has
    wheels.

    >>> install_order(["cp312", "cp313", "cp314t"]).split()
    ['3.14t', '3.13', '3.12']
    """
    newest_first = sorted(pythons, key=python_version, reverse=True)
    return "\n".join(map(name_python, sorted(newest_first, key=lambda tag: not tag.endswith("t"))))


def _places(release: Release, backends: Collection[Backend], selection: Selection) -> tuple[tuple[str, str], ...]:
    pairs = list_prebuilt(release, backends, REFERENCE)
    places = (*pairs, *((BINDINGS_ALONE, platform) for platform in list_bindings_alone(release, pairs)))
    return tuple(place for place in places if selection.has(*place))


def _wheel_job(release: Release, backend: str, platform: str) -> WheelJob:
    runner = _RUNNERS[platform if PLATFORMS[platform].builds else REFERENCE.name]
    return WheelJob(release.version, backend, platform, runner, _pythons(release, platform))


def _native_jobs(release: Release, wheels: Iterable[WheelJob]) -> Iterator[NativeJob]:
    for job in wheels:
        if job.release == release.version and not PLATFORMS[job.platform].builds:
            for python in release.pythons(job.platform):
                yield NativeJob(job.release, job.platform, _RUNNERS[job.platform], name_python(python))


def _accelerator_jobs(
    wheels: Iterable[WheelJob], machines: Mapping[tuple[str, str], tuple[str, ...]]
) -> Iterator[AcceleratorJob]:
    for job in wheels:
        if labels := machines.get((job.backend, job.platform)):
            yield AcceleratorJob(job.release, job.backend, job.platform, labels, job.pythons)


def _pythons(release: Release, platform: str) -> str:
    return install_order(release.pythons(platform))
