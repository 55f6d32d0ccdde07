# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a tag of git publishes, to the workflow: a release of the repository, or `jaxlib-select`.

Tags (`sets/tags.py`) follow from what is in the repository, and say nothing of where it is published: whether a
destination takes local version labels (PEP 440) is written in `releases/destinations.toml`. The standard library is
enough.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaxlib_select.facts import known_releases, load_facts
from pjrtwheel.errors import UsageError, list_choices
from pjrtwheel.release.known import is_version, list_releases, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.sets.tags import Tag, list_tagged, parse_tag, tag_of
from pjrtwheel.tables import read_toml


def read_tag(root: Path, tag: str) -> str:
    """Return the JAX release that a tag publishes a set of, such as `v0.12.0.1+split.1`.

    It is empty for a tag of the selector such as `select-v0.1.0`, which has facts about all releases.

    Raises:
        UsageError: It is not the tag of what is in the repository.
        PinError: A release file is malformed.
    """
    said = parse_tag(tag)
    if said.selector:
        version = selector_version(root)
        _compare(tag, str(Tag(version, selector=True)), f"selector/pyproject.toml has version {version}")
        return ""
    release = _find_release(root, tag, said.release)
    _compare(tag, tag_of(release), f"{release.path.name} is of set {release.set_version}, number {release.build}")
    return release.version


def _find_release(root: Path, tag: str, version: str) -> Release:
    """Return the release that a tag names, whichever set of it.

    Raises:
        UsageError: There is none; the message lists the tags there are.
        PinError: A release file is malformed.
    """
    if version in list_releases(root):
        return load_release(root, version)
    choices = [*list_tagged(root), str(Tag(selector_version(root), selector=True))]
    raise UsageError(
        f"unknown tag: {tag!r}",
        cause=f"known: {list_choices(choices, tag)}",
        remedy=f"pin its release with: ./noxw pin {version}" if is_version(version) else "",
    )


def selector_version(root: Path) -> str:
    """Return the version of `jaxlib-select` in the repository."""
    table = read_toml(dict[str, Any], (root / "selector" / "pyproject.toml").read_text("utf-8"))
    version: str = table["project"]["version"]
    return version


def list_labelled(root: Path) -> tuple[str, ...]:
    """Return what `jaxlib-select` asks for with a local version label, which not every destination takes."""
    folder = root / "selector" / "jaxlib_select" / "facts"
    facts = [load_facts(name, folder) for name in known_releases(folder)]
    needs = (f"{entry.distribution}=={entry.version}" for one in facts for entry in one.backends)
    return tuple(need for need in needs if "+" in need)


def _compare(tag: str, expected: str, cause: str) -> None:
    if tag != expected:
        raise UsageError(f"unexpected tag: {tag!r}", cause=cause, remedy=f"its tag is {expected}")
