# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what a build needs, and refuse one that lacks it before anything is started."""

from __future__ import annotations

from collections.abc import Iterable

from pjrtwheel.backend import Backend
from pjrtwheel.errors import FetchError, UsageError
from pjrtwheel.release.model import Release


def check_inputs(release: Release, backend: Backend | None, platform: str, provider: str, host: str) -> None:
    """Make sure that the release pins whatever the build will need, before anything is started.

    Raises:
        UsageError: The backend has no wheels for this platform, or its library does not come from this provider.
        FetchError: An input is not pinned; the message says which and what else could be done.
    """
    if not release.pythons(platform):
        raise FetchError(f"release {release.version} pins no bindings for {platform}")
    if backend is None:
        return
    if platform not in backend.tags:
        raise UsageError(
            f"backend {backend.name} has no wheels for {platform}", remedy=f"it has: {', '.join(backend.tags)}"
        )
    check_provider(backend, provider)
    for key in required_pins(backend, platform, provider, host):
        release.pin(key, advise(release, backend, platform, key))


def advise(release: Release, backend: Backend, platform: str, key: str) -> str:
    """Return how a build can do that lacks a pin: it can be pinned, or a library comes from elsewhere."""
    pinning = f"pin it with: ./noxw -s pin -- {release.version} --missing"
    if not key.startswith("plugin."):
        return pinning
    prebuilt = backend.prebuilt
    ways = {
        pinning: platform in prebuilt.platforms,
        "build it from source with --xla source": backend.source is not None,
        "give a library with --xla PATH": prebuilt.bundled,
    }
    return ", or ".join(way for way, is_open in ways.items() if is_open)


def list_prebuilt(release: Release, backends: Iterable[Backend], host: str) -> tuple[tuple[str, str], ...]:
    """Return backend and platform of every wheel whose inputs are all on the package index.

    Raises:
        FetchError: An input is not pinned, although the backend's table says that the index has it.
    """
    pairs = [(backend, platform) for backend in backends for platform in backend.prebuilt.platforms]
    for backend, platform in pairs:
        check_inputs(release, backend, platform, "prebuilt", host)
    return tuple((backend.name, platform) for backend, platform in pairs)


def check_provider(backend: Backend, provider: str) -> None:
    """Make sure that a backend's library can come from a provider.

    Raises:
        UsageError: It cannot; the message says why.
    """
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


def required_pins(backend: Backend, platform: str, provider: str, host: str) -> tuple[str, ...]:
    """Return the keys of all pins that the wheel of a backend is made from.

    Args:
        backend: The accelerator.
        platform: Name of the platform the wheel is for.
        provider: `prebuilt`, `source` or `file`.
        host: Name of the platform that the build runs on.
    """
    plugin = (f"plugin.{backend.name}.{platform}",) if provider == "prebuilt" else ()
    kernels = backend.kernels
    pythons = kernels.pythons if kernels and platform in kernels.platforms else ()
    return (
        f"compiler.{host}",
        *plugin,
        *(f"kernels.{backend.name}.{python}.{platform}" for python in pythons),
        *(f"tool.{name}.{host}" for name in backend.tools),
    )
