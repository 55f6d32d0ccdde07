# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The environment in which JAX's tests run: a fresh one, with the wheels of `dist/` and what the tests import."""

from __future__ import annotations

import os
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment import venv as environment
from pjrtwheel.environment.interpreters import find_interpreters
from pjrtwheel.errors import UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import find_plain_wheels, parse_name


def conformance_python(
    scratch: Path, *, root: Path, dist: Path, release: Release, backend: Backend, tag: str | None
) -> Path:
    """Make the environment in `scratch` and return its Python.

    Args:
        scratch: An empty folder.
        root: Root of the repository, for the list of what the tests import.
        dist: Folder with the wheels of one set.
        release: The release.
        backend: The plugin.
        tag: Which Python, such as `cp312`; the oldest of the release that is on this machine when absent.

    Raises:
        UsageError: No such interpreter here, or no wheels for it.
    """
    wanted = (tag,) if tag else release.pythons(host_platform().name)
    found = next((interpreter for interpreter in find_interpreters(wanted).values() if interpreter), None)
    if found is None:
        raise UsageError(f"no interpreter here for {', '.join(wanted)}", remedy="install one of these Pythons")
    names = {"jaxlib", backend.distribution}
    named = {wheel: parse_name(wheel.name) for wheel in find_plain_wheels(dist)}
    wheels = [wheel for wheel, name in named.items() if name.distribution in names and name.fits(found.tag)]
    if {named[wheel].distribution for wheel in wheels} != names:
        raise UsageError(
            f"{dist} lacks wheels of {' and '.join(sorted(names))} for {found.tag}",
            remedy=f"build them: ./noxw -s build_{backend.name}",
        )
    requirements = [f"jax=={release.version}", *environment.requirement_group(root, "conformance")]
    house = environment.wheelhouse(found, requirements, wheels, cache_root(os.environ))
    python = environment.create_venv(found, scratch / "venv")
    ours = [named[wheel].requirement for wheel in wheels]
    environment.install(python, [*requirements, *ours], {house, *(wheel.parent for wheel in wheels)})
    return python
