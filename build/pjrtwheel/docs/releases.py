# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The table of releases in `docs/user/wheels.md`: for which Pythons and platforms each has which wheel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pjrtwheel.abis import name_python, python_order
from pjrtwheel.backend import Backend
from pjrtwheel.release.model import Release


def render_releases(releases: Sequence[Release], backends: Iterable[Backend]) -> str:
    """Return a Markdown table with a column for each release and a row for `jaxlib` and each plugin wheel."""
    rows = [
        ["", *(release.version for release in releases)],
        ["---"] * (1 + len(releases)),
        ["`jaxlib`", *(_describe_bindings(release) for release in releases)],
        *([f"`{b.distribution}`", *(_describe_plugin(release, b) for release in releases)] for b in backends),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _describe_bindings(release: Release) -> str:
    platforms: dict[str, list[str]] = {}
    for platform in sorted({key.split(".")[2] for key in release.pins if key.startswith("bindings.")}):
        platforms.setdefault(_name_pythons(release.pythons(platform)), []).append(platform)
    return "; ".join(f"{', '.join(names)}: {pythons}" for pythons, names in platforms.items())


def _describe_plugin(release: Release, backend: Backend) -> str:
    platforms = sorted(release.platforms(backend.name))
    if not platforms:
        return "absent"
    return "; ".join((", ".join(platforms), *_list_limits(release, backend, platforms)))


def _list_limits(release: Release, backend: Backend, platforms: Sequence[str]) -> Iterator[str]:
    if override := release.override(backend.name):
        yield f"with the library of {override.version}"
    if backend.kernels:
        without = {
            python
            for platform in platforms
            for python in set(release.pythons(platform)) - set(release.kernels(backend.name, platform))
        }
        if without:
            yield f"no kernels for {_name_pythons(without)}"


def _name_pythons(tags: Iterable[str]) -> str:
    """Return the versions of Pythons, free-threaded ones last.

    >>> _name_pythons({"cp314t", "cp315", "cp312"})
    '3.12, 3.15, 3.14t'
    """
    return ", ".join(map(name_python, sorted(tags, key=python_order)))
