# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheels that a release promises, by their file names."""

from collections.abc import Collection, Iterable
from pathlib import Path

from pjrtwheel.abis import plugin_tag
from pjrtwheel.backend import Backend
from pjrtwheel.platforms import REFERENCE, Platform
from pjrtwheel.release.checks import list_bindings_alone, list_prebuilt
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import WheelName, make_name, parse_name


def promised_bindings(release: Release, platform: str) -> tuple[WheelName, ...]:
    """Return the names of the `jaxlib` wheels for a platform, one for each Python."""
    pins = (release.pin(f"bindings.{python}.{platform}") for python in release.pythons(platform))
    upstream = (parse_name(pin.filename) for pin in pins)
    return tuple(make_name(name.distribution, release.set_version, name.tag, release.build_tag) for name in upstream)


def promised_plugin(backend: Backend, platform: str, version: str) -> WheelName:
    """Return the name of a backend's wheel for a platform, of the set with a version."""
    return make_name(backend.distribution, version, plugin_tag(backend.python_tag, backend.tags[platform]))


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
    known = {backend.name: backend for backend in backends}
    pairs = list_prebuilt(release, known.values(), host)
    platforms = dict.fromkeys((*(platform for _, platform in pairs), *list_bindings_alone(release, pairs)))
    bindings = [name for platform in platforms for name in promised_bindings(release, platform)]
    plugins = [promised_plugin(known[name], platform, release.set_version) for name, platform in pairs]
    return (*bindings, *plugins)
