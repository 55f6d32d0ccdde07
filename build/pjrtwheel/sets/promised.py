# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheels that a release promises: those of its set, by the inputs that its release file pins."""

from collections.abc import Collection, Iterable
from pathlib import Path

from pjrtwheel.abis import plugin_tag
from pjrtwheel.backend import Backend
from pjrtwheel.platforms import PLATFORMS, REFERENCE, Platform
from pjrtwheel.release.checks import list_prebuilt
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import WheelName, make_name, parse_name


def promised_bindings(release: Release, platform: str) -> tuple[WheelName, ...]:
    """Return the names of the `jaxlib` wheels for a platform, one for each Python."""
    pins = (release.pin(f"bindings.{python}.{platform}") for python in release.pythons(platform))
    upstream = (parse_name(pin.filename) for pin in pins)
    return tuple(make_name(name.distribution, release.set_version, name.tag, release.build_tag) for name in upstream)


def promised_plugin(backend: Backend, release: Release, platform: str, version: str) -> tuple[WheelName, ...]:
    """Return the names of a backend's wheels for a platform, of the set with a version: the plugin, then kernels."""
    plugin = make_name(backend.distribution, version, plugin_tag(backend.python_tag, backend.tags[platform]))
    pythons = release.kernels(backend.name, platform) if backend.kernels else ()
    pins = (release.pin(f"kernels.{backend.name}.{python}.{platform}") for python in pythons)
    tags = (parse_name(pin.filename).tag for pin in pins)
    return (plugin, *(make_name(backend.kernels_distribution, version, tag) for tag in tags))


def list_promised(root: Path, version: str, backends: Collection[Backend], platform: Platform) -> tuple[WheelName, ...]:
    """Return the wheels for a platform that the release file of a set promises; none if the set is somebody else's.

    Raises:
        PinError: A release file is malformed.
        FetchError: An input of a pinned library is not pinned.
    """
    releases = (load_release(root, known) for known in list_releases(root))
    promised = (promised_set(release, backends, REFERENCE) for release in releases if release.set_version == version)
    return tuple(name for name in next(promised, ()) if name.platform == platform)


def promised_set(release: Release, backends: Iterable[Backend], host: Platform) -> tuple[WheelName, ...]:
    """Return the names of all wheels of a release whose inputs are pinned, by what one `host` can build.

    Raises:
        FetchError: An input of a pinned library is not pinned.
    """
    bindings = [name for platform in PLATFORMS for name in promised_bindings(release, platform)]
    version, pairs = release.set_version, list_prebuilt(release, backends, host)
    plugins = [name for backend, platform in pairs for name in promised_plugin(backend, release, platform, version)]
    return (*bindings, *plugins)
