# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a backend's wheel requires in one release: its own extras, and those that follow upstream's."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pjrtwheel.backend import Backend, UpstreamExtra
from pjrtwheel.errors import FetchError
from pjrtwheel.release.model import Release

_PROJECT = re.compile(r"[\w.-]+")


def extras_of(backend: Backend, release: Release) -> dict[str, tuple[str, ...]]:
    """Return the extras of a backend's wheel, and what each requires.

    Raises:
        FetchError: An extra follows one of upstream's, which has no plugin of this release.
    """
    taken = release.extras.get(backend.name, {})
    for extra, table in backend.extras.items():
        if isinstance(table, UpstreamExtra) and extra not in taken:
            raise FetchError(
                f"release {release.version} does not say what {backend.distribution}[{extra}] requires",
                cause=f"the package index had no {table.upstream} when the release was pinned",
                remedy=f"pin it again when there is one: ./noxw pin {release.version}",
            )
    own = {extra: table for extra, table in backend.extras.items() if not isinstance(table, UpstreamExtra)}
    return {extra: own[extra] if extra in own else taken[extra] for extra in backend.extras}


def offered(release: Release, backends: Iterable[Backend], provider: str) -> tuple[Backend, ...]:
    """Return the backends that `jaxlib` has an extra for: all that have a wheel in the set.

    From the index these are the ones that it has a library of; whoever brings a library may bring any.
    """
    return tuple(backend for backend in backends if provider != "prebuilt" or release.platforms(backend.name))


def aot_requires(backend: Backend, release: Release) -> tuple[str, ...]:
    """Return what compiling without the accelerator needs; a bare project is bounded as an extra bounds it."""
    bounds = {
        _project(requirement): requirement
        for requires in (extras_of(backend, release).values() if backend.aot_requires else ())
        for requirement in requires
    }
    return tuple(bounds.get(entry, entry) for entry in backend.aot_requires)


def _project(requirement: str) -> str:
    """Return the project of a requirement.

    >>> _project("nvidia-nvvm>=13.0.48,<14")
    'nvidia-nvvm'
    """
    match = _PROJECT.match(requirement)
    return match[0] if match else ""
