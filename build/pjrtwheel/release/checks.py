# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what a build needs, and refuse one that lacks it before anything is started."""

from collections.abc import Iterable, Iterator

from pjrtwheel.backend import Backend
from pjrtwheel.errors import FetchError, UsageError
from pjrtwheel.grouping import group
from pjrtwheel.platforms import PLATFORMS, Platform, find_platform
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.release.wheels import extras_of


def check_inputs(release: Release, backend: Backend | None, platform: Platform, provider: str, host: Platform) -> None:
    """Make sure that the release pins whatever the build will need, before anything is started.

    Raises:
        UsageError: The backend has no wheels for this platform, or its library does not come from this provider.
        FetchError: An input is not pinned; the message says which and what else could be done.
    """
    if not release.pythons(platform.name):
        raise FetchError(f"release {release.version} pins no bindings for {platform.name}")
    if backend is None:
        return
    if platform.name not in backend.tags:
        raise UsageError(
            f"backend {backend.name} has no wheels for {platform.name}", remedy=f"it has: {', '.join(backend.tags)}"
        )
    check_provider(backend, provider)
    if provider == "source" and release.xla is None:
        raise UsageError(
            f"release {release.version} cannot be built from source",
            cause="nobody has written down which commit of XLA it was made from",
            remedy=f"--release with one of releases/xla.toml, or add it there, then: ./noxw pin {release.version}",
        )
    for key in required_pins(release, backend, platform, provider, host):
        release.pin(key, "" if key in release.pins else advise(release, backend, key))
    extras_of(backend, release)


def advise(release: Release, backend: Backend, key: str) -> str:
    """Return what helps a build that lacks a pin: pinning it, or a library from elsewhere."""
    if release.find_absent(key) is None:
        return f"pin it with: ./noxw pin {release.version}"
    ways = ["--xla source"] if backend.source and release.xla else []
    ways += ["--xla PATH"] if backend.prebuilt.bundled else []
    return f"take another release, or a library with {' or '.join(ways)}" if key.startswith("plugin.") and ways else ""


def list_prebuilt(release: Release, backends: Iterable[Backend], host: Platform) -> Iterator[tuple[Backend, str]]:
    """Yield backend and platform of every wheel whose inputs are all on the package index.

    Raises:
        FetchError: An input of a pinned library is not pinned.
    """
    for backend in backends:
        for platform in backend.tags:
            if platform in release.platforms(backend.name):
                check_inputs(release, backend, find_platform(platform), "prebuilt", host)
                yield backend, platform


def describe_doubts(release: Release) -> Iterator[str]:
    """Yield what a person should know of a release's inputs: other commits of JAX, overrides, a doubtful XLA."""
    overrides = (f"{entry.backend} takes version {entry.version}: {entry.reason}" for entry in release.overrides)
    yield from filter(None, (describe_commits(release), *overrides, describe_contradiction(release)))


def describe_commits(release: Release) -> str:
    """Say which commits of JAX the inputs were built from; nothing where it is one."""
    by_commit = group((commit, project) for project, commit in release.commits.items())
    parts = (f"{commit[:12]} ({', '.join(projects)})" for commit, projects in by_commit.items())
    return f"inputs were built from different commits of JAX: {'; '.join(parts)}" if len(by_commit) > 1 else ""


def describe_contradiction(release: Release) -> str:
    """Say what speaks against the commit of XLA that was written down; nothing where nothing does."""
    if release.xla is None or not release.xla.contradicted_by:
        return ""
    return f"XLA commit {release.xla.commit[:12]} is contradicted by {release.xla.contradicted_by}"


def list_bindings_alone(release: Release, prebuilt: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the platforms that have bindings and, among these pairs of backend and platform, no backend."""
    with_backend = {platform for _, platform in prebuilt}
    return tuple(name for name in PLATFORMS if release.pythons(name) and name not in with_backend)


def check_provider(backend: Backend, provider: str) -> None:
    """Raise a `UsageError` that says why, unless a backend's library can come from a provider."""
    if provider == "source" and backend.source is None:
        raise UsageError(
            f"backend {backend.name} cannot be built from source",
            cause=f"{backend.path.name} has no [source]: the source of {backend.prebuilt.project} is not open",
            remedy="leave out --xla",
        )
    if provider == "file" and not backend.prebuilt.bundled:
        raise UsageError(
            f"the wheel of backend {backend.name} carries no library, so it cannot take one from --xla",
            cause=f"it requires the pinned version of {backend.prebuilt.project}, which must not be redistributed",
            remedy="leave out --xla",
        )


def fetched_pins(
    release: Release, backends: Iterable[Backend], platform: Platform, provider: str, host: Platform
) -> tuple[Pin, ...]:
    """Return every pinned input that a build on the host downloads, of jaxlib and of the backends, each once.

    Raises:
        FetchError: One is not pinned.
    """
    keys = [f"bindings.{python}.{platform.name}" for python in release.pythons(platform.name)]
    for backend in backends:
        # Headers; those of XLA's FFI come from the first jaxlib of the host.
        keys += ["header.pjrt_c_api", *(f"bindings.{python}.{host.name}" for python in release.pythons(host.name)[:1])]
        unneeded = "" if backend.prebuilt.bundled else f"plugin.{backend.name}.{platform.name}"
        keys += [key for key in required_pins(release, backend, platform, provider, host) if key != unneeded]
    return tuple({pin.sha256: pin for pin in map(release.pin, keys)}.values())


def required_pins(
    release: Release, backend: Backend, platform: Platform, provider: str, host: Platform
) -> tuple[str, ...]:
    """Return the keys of all pins that the wheel of a backend is made from, when it is built on the host."""
    plugin = (f"plugin.{backend.name}.{platform.name}",) if provider == "prebuilt" else ()
    pythons = release.kernels(backend.name, platform.name) if backend.kernels else ()
    return (
        f"compiler.{host.name}",
        *plugin,
        *(f"kernels.{backend.name}.{python}.{platform.name}" for python in pythons),
        *(f"tool.{name}.{host.name}" for name in backend.tools),
    )
