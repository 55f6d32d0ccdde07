# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Tags of git: `v` and the version of a set, or `select-v` and that of `jaxlib-select`, `tooling-v` of `pjrtwheel`.

Without a local version label the version does not say which set of a release it is, so the tag does: `v0.11.2` is the
first, `v0.11.2+2` the second. The standard library is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pjrtwheel.errors import UsageError, list_choices
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import LABEL, Release
from pjrtwheel.sets import SELECTOR, TOOLING
from pjrtwheel.tables import load_toml

if TYPE_CHECKING:  # it needs `packaging`
    from pjrtwheel.wheel.names import WheelName

# Command that builds a project which belongs to no release, as in its tags → project, and folder with pyproject.toml.
PROJECTS = {"select": (SELECTOR, "selector"), "tooling": (TOOLING, ".")}


def name_tag(version: str, number: str = "") -> str:
    """Return the tag of a version; the number is the build tag of its `jaxlib`.

    >>> name_tag("1.2+split.1"), name_tag("1.2+split.2", "2"), name_tag("1.2", "1"), name_tag("1.2", "2")
    ('v1.2+split.1', 'v1.2+split.2', 'v1.2', 'v1.2+2')
    """
    return f"v{version}" if "+" in version or number in {"", "1"} else f"v{version}+{number}"


def tag_of(release: Release) -> str:
    """Return the tag of a release's set."""
    return name_tag(release.set_version, release.build_tag)


def find_tagged(root: Path, tag: str, built: Iterable[str] = ()) -> Release | None:
    """Return the release that a tag publishes a set of, or None for that of a project which belongs to none.

    `built` has versions of wheels: a set that was built with a label of its own has a tag as well.

    Raises:
        UsageError: It is the tag of nothing that is in the repository.
        PinError: A release file is malformed.
    """
    releases = {version: load_release(root, version) for version in list_releases(root)}
    parts = (re.fullmatch(rf"([^+]+)\+({LABEL})\.\d+", version) for version in built)
    own = (replace(releases[part[1]], label=part[2]) for part in parts if part and part[2] and part[1] in releases)
    known: dict[str, Release | None] = {tag_of(release): release for release in (*own, *releases.values())}
    known |= dict.fromkeys(f"{command}-v{project_version(root, command)}" for command in PROJECTS)
    if tag not in known:
        raise UsageError(
            f"unknown tag: {tag!r}",
            cause=f"known: {list_choices(known, tag)}",
            remedy="take one of these, or pin a JAX release with: ./noxw pin VERSION",
        )
    return known[tag]


def find_project(tag: str) -> str:
    """Return the command that builds the only wheel of a tag; empty for the tag of a set.

    >>> find_project("select-v0.1.0"), find_project("v0.11.2+split.1")
    ('select', '')
    """
    command = tag.partition("-v")[0]
    return command if command in PROJECTS else ""


def project_version(root: Path, command: str) -> str:
    """Return the version in the repository of what a command of `PROJECTS` builds."""
    version: str = load_toml(dict[str, Any], root / PROJECTS[command][1] / "pyproject.toml")["project"]["version"]
    return version


def tag_of_wheel(name: WheelName) -> str:
    """Return the tag of a wheel; of a second set without a label only `jaxlib` says that it is the second."""
    alone = (f"{command}-v{name.version}" for command, (project, _) in PROJECTS.items() if name.distribution == project)
    return next(alone, name_tag(name.version, name.build))
