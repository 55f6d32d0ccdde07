# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which jobs continuous integration has: wheels to build, releases to test, systems to start their wheels on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pjrtwheel.abis import python_version
from pjrtwheel.backend import Backend
from pjrtwheel.platforms import PLATFORMS, Platform
from pjrtwheel.release.checks import list_bindings_alone, list_prebuilt
from pjrtwheel.release.model import Release

# What GitHub calls its machines.
_RUNNERS = {
    "linux_x86_64": "ubuntu-24.04",
    "linux_aarch64": "ubuntu-24.04-arm",
    "macos_arm64": "macos-15",
    "windows_x86_64": "windows-2025",
}
_ALONE = "jaxlib"  # as in the name of the session that builds bindings alone
_HOST = "cpu"  # JAX's name for the machine itself


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
class SuiteJob:
    """Put the wheels of a release into one folder, and run all tests on them.

    Attributes:
        artifacts: Pattern of what wheel jobs have uploaded, by release, backend and platform.
        pythons: Those to install, see `install_order`.
    """

    release: str
    artifacts: str
    pythons: str


@dataclass(frozen=True, slots=True)
class NativeJob:
    """Run `jaxlib` on one Python of a system on which nothing is built."""

    release: str
    platform: str
    runner: str
    python: str


@dataclass(frozen=True, slots=True)
class Jobs:
    """All jobs of one run."""

    wheels: tuple[WheelJob, ...]
    tests: tuple[SuiteJob, ...]
    native: tuple[NativeJob, ...]


def list_jobs(
    releases: Sequence[Release], backends: Collection[Backend], host: Platform, *, once: bool = False
) -> Jobs:
    """Return the jobs for some releases, the newest of which comes last, on machines such as `host`.

    `once` is for changes of the repository: each backend and platform is built once, out of the newest release that has
    it, and the tests are those of the newest release that they can run on; that release is built whole.

    Raises:
        FetchError: An input of a pinned library is not pinned.
    """
    newest_first = list(reversed(releases))
    places = {release.version: _places(release, backends, host) for release in newest_first}
    cpu_names = {backend.name for backend in backends if backend.pjrt_name == _HOST}
    tested = [entry for entry in newest_first if any((name, host.name) in places[entry.version] for name in cpu_names)]
    tested = tested[:1] if once else tested
    first = {place: version for version in reversed(places) for place in places[version]}
    wheels = [
        _wheel_job(release, *place)
        for release in newest_first
        for place in places[release.version]
        if not once or release in tested or first[place] == release.version
    ]
    return Jobs(
        tuple(wheels),
        tuple(
            SuiteJob(entry.version, "dist-*" if once else f"dist-{entry.version}-*", _pythons(entry, host.name))
            for entry in tested
        ),
        tuple(job for entry in newest_first for job in _native_jobs(entry, wheels)),
    )


def install_order(pythons: Iterable[str]) -> str:
    """Return Pythons, given by ABI tag, as a list for `actions/setup-python`, one per line.

    The last is the one that `python3` starts. It is the oldest with the GIL, for which all that the tools need has
    wheels.

    >>> install_order(["cp312", "cp313", "cp314t"]).split()
    ['3.14t', '3.13', '3.12']
    """
    newest_first = sorted(pythons, key=python_version, reverse=True)
    return "\n".join(map(_dotted, sorted(newest_first, key=lambda tag: not tag.endswith("t"))))


def _places(release: Release, backends: Collection[Backend], host: Platform) -> tuple[tuple[str, str], ...]:
    pairs = list_prebuilt(release, backends, host)
    return (*pairs, *((_ALONE, platform) for platform in list_bindings_alone(release, pairs)))


def _wheel_job(release: Release, backend: str, platform: str) -> WheelJob:
    runner = _RUNNERS[platform if PLATFORMS[platform].builds else "linux_x86_64"]
    return WheelJob(release.version, backend, platform, runner, _pythons(release, platform))


def _native_jobs(release: Release, wheels: Iterable[WheelJob]) -> Iterator[NativeJob]:
    for job in wheels:
        if job.release == release.version and not PLATFORMS[job.platform].builds:
            for python in release.pythons(job.platform):
                yield NativeJob(job.release, job.platform, _RUNNERS[job.platform], _dotted(python))


def _pythons(release: Release, platform: str) -> str:
    return install_order(release.pythons(platform))


def _dotted(python: str) -> str:
    major, minor = python_version(python)
    return f"{major}.{minor}{'t' if python.endswith('t') else ''}"
