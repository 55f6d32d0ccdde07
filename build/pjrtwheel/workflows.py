# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which jobs continuous integration has, and what `jaxlib-select` asks for with a local version label.

Machines with accelerators are those of a variable of the repository, which maps backends to the labels of runners, such
as `{"cuda13": ["self-hosted", "h100"], "cuda13/linux_aarch64": ["self-hosted", "gh200"]}`; a backend without a platform
is that of the machines which CI runs on.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jaxlib_select.facts import known_releases, load_facts
from pjrtwheel.abis import name_python, python_version
from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import PLATFORMS, REFERENCE
from pjrtwheel.release.checks import list_bindings_alone, list_prebuilt
from pjrtwheel.release.model import Release
from pjrtwheel.tables import TableError, read_json

# What GitHub calls its machines.
_RUNNERS = {
    "linux_x86_64": "ubuntu-24.04",
    "linux_aarch64": "ubuntu-24.04-arm",
    "macos_arm64": "macos-15",
    "windows_x86_64": "windows-2025",
}
BINDINGS_ALONE = "jaxlib"  # as in the name of the session that builds bindings alone
_EXAMPLE = 'expected JSON such as {"cuda13": ["self-hosted", "h100"]}'

Place = tuple[str, str]  # backend, or `jaxlib` for bindings alone, and platform


@dataclass(frozen=True, slots=True)
class WheelJob:
    """Something to do with the wheels of one backend, or of `jaxlib` alone where a platform has no backend.

    Attributes:
        runner: What GitHub calls the machine, or the labels of one that is self-hosted.
        pythons: Those to install, see `install_order`.
    """

    release: str
    backend: str
    platform: str
    runner: str | tuple[str, ...]
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
class Jobs:
    """All jobs of one run.

    Attributes:
        wheels: Build the wheels. The same bytes come out on any machine, but only on the wheels' own platform is there
            anything to prove.
        releases: Join and test them.
        native: Run `jaxlib` on one Python of a system on which nothing is built.
        accelerators: Prove wheels on a machine that has their hardware, and hand back nothing but the proofs.
    """

    wheels: tuple[WheelJob, ...]
    releases: tuple[ReleaseJob, ...]
    native: tuple[WheelJob, ...]
    accelerators: tuple[WheelJob, ...] = ()


def list_jobs(
    releases: Sequence[Release],
    backends: Collection[Backend],
    *,
    once: bool = False,
    names: Collection[str] = (),
    platforms: Collection[str] = (),
    machines: Mapping[Place, tuple[str, ...]] | None = None,
) -> Jobs:
    """Return the jobs for some releases, the newest of which comes last.

    `once` is for changes of the repository: each backend and platform is built once, out of the newest release that has
    it. One release is built whole: the newest that can be tested, or else the newest. `names` are those of the backends
    and `platforms` those that a run is restricted to, if any. `machines` has the labels of the runner for each backend
    and platform that can be proven on an accelerator (`read_machines`).

    Raises:
        FetchError: An input of a pinned library is not pinned.
    """
    newest_first = list(reversed(releases))
    places = {release.version: _list_places(release, backends, names, platforms) for release in newest_first}
    cpu_places = {(backend.name, REFERENCE.name) for backend in backends if backend.is_cpu}
    tested = {version for version in places if not cpu_places.isdisjoint(places[version])}
    whole = [release for release in newest_first if places[release.version]]
    if once:
        whole = sorted(whole, key=lambda release: release.version not in tested)[:1]
    first = {place: version for version in reversed(places) for place in places[version]}
    wheels = tuple(
        WheelJob(release.version, backend, platform, _RUNNERS[_builder(platform)], _pythons(release, platform))
        for release in newest_first
        for backend, platform in places[release.version]
        if not once or release in whole or first[backend, platform] == release.version
    )
    joined = (
        ReleaseJob(
            release.version,
            "dist-*" if once else f"dist-{release.version}-*",
            release.version in tested,
            _pythons(release, REFERENCE.name),
        )
        for release in whole
    )
    native = (
        replace(job, runner=_RUNNERS[job.platform], pythons=name_python(python))
        for release in newest_first
        for job in wheels
        if job.release == release.version and not PLATFORMS[job.platform].builds
        for python in release.pythons(job.platform)
    )
    labels = machines or {}
    accelerators = (replace(job, runner=found) for job in wheels if (found := labels.get((job.backend, job.platform))))
    return Jobs(wheels, tuple(joined), tuple(native), tuple(accelerators))


def install_order(pythons: Iterable[str]) -> str:
    """Return Pythons, given by ABI tag, as a list for `actions/setup-python`, one per line.

    The last is the one that `python3` starts. It is the oldest with the GIL, for which all that the tools need has
    wheels.

    >>> install_order(["cp312", "cp313", "cp314t"]).split()
    ['3.14t', '3.13', '3.12']
    """
    newest_first = sorted(pythons, key=python_version, reverse=True)
    return "\n".join(map(name_python, sorted(newest_first, key=lambda tag: not tag.endswith("t"))))


def read_machines(text: str, backends: Collection[Backend]) -> Mapping[Place, tuple[str, ...]]:
    """Return the labels of runners by backend and platform, as the variable has them; none where it is empty.

    Raises:
        UsageError: It is not of that form, or names a backend or platform that there is not.
    """
    try:
        table = read_json(dict[str, tuple[str, ...]], text or "{}")
    except TableError as error:
        raise UsageError("the variable for accelerators is damaged", cause=str(error), remedy=_EXAMPLE) from error
    if not all(map(all, table.values())) or not all(table.values()):
        raise UsageError("the variable for accelerators names a machine without labels", remedy=_EXAMPLE)
    names = {(name if "/" in name else f"{name}/{REFERENCE.name}"): labels for name, labels in table.items()}
    known = {f"{backend.name}/{platform}" for backend in backends for platform in backend.tags}
    if unknown := sorted(names.keys() - known):
        raise UsageError(
            f"the variable for accelerators names {', '.join(unknown)}, which have no wheels",
            remedy=f"known: {', '.join(sorted(known))}",
        )
    return {(name.partition("/")[0], name.partition("/")[2]): labels for name, labels in names.items()}


def _list_places(
    release: Release, backends: Collection[Backend], names: Collection[str], platforms: Collection[str]
) -> tuple[Place, ...]:
    pairs = [(backend.name, platform) for backend, platform in list_prebuilt(release, backends, REFERENCE)]
    places = (*pairs, *((BINDINGS_ALONE, platform) for platform in list_bindings_alone(release, pairs)))
    return tuple(
        (name, platform)
        for name, platform in places
        if (not names or name in names) and (not platforms or platform in platforms)
    )


def _builder(platform: str) -> str:
    """Return the platform on which the wheels for one are built."""
    return platform if PLATFORMS[platform].builds else REFERENCE.name


def _pythons(release: Release, platform: str) -> str:
    return install_order(release.pythons(platform))


def list_labelled(root: Path) -> tuple[str, ...]:
    """Return what `jaxlib-select` asks for with a local version label, which not every destination takes."""
    folder = root / "selector" / "jaxlib_select" / "facts"
    facts = [load_facts(name, folder) for name in known_releases(folder)]
    needs = (f"{entry.distribution}=={entry.version}" for one in facts for entry in one.backends)
    return tuple(need for need in needs if "+" in need)
