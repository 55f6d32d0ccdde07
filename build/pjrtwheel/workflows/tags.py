# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a tag of git publishes on the public index, which takes no version with a local label (PEP 440)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlib_select.facts import known_releases, load_facts
from pjrtwheel.errors import UsageError
from pjrtwheel.release.known import load_release
from pjrtwheel.release.model import Release
from pjrtwheel.tables import read_toml

_SELECTOR = "select-"


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published.

    Attributes:
        release: The JAX release to build; empty for all of them, which the selector has facts about.
    """

    release: str

    @property
    def artifact(self) -> str:
        """The name under which CI uploads the wheels."""
        return f"release-{self.release}" if self.release else "select"


def read_tag(root: Path, tag: str) -> Publication:
    """Return what a tag publishes: `v0.11.2` the first set of a release, `v0.11.2+2` its second, `select-v0.1.0`.

    Raises:
        UsageError: It is not the tag of what is in the repository, or a version has a local label.
    """
    if tag.startswith(_SELECTOR):
        check_selector(root / "selector", tag)
        return Publication("")
    version = tag.removeprefix("v").partition("+")[0]
    check_set(load_release(root, version), tag)
    return Publication(version)


def check_set(release: Release, tag: str) -> None:
    """Raise a `UsageError` unless a tag is that of a release's set, and the set may be published."""
    if release.label:
        raise UsageError(
            f"the public index takes no version with a label, such as {release.set_version}",
            remedy='set label = "" in releases/inputs.toml, and pin again',
        )
    number = "" if release.build == 1 else f"+{release.build}"
    _compare(tag, f"v{release.version}{number}", f"{release.path.name} is of set {release.build}")


def check_selector(project: Path, tag: str) -> None:
    """Raise a `UsageError` unless a tag is that of the selector, and it asks for wheels that may be published."""
    table = read_toml(dict[str, Any], (project / "pyproject.toml").read_text("utf-8"))
    version = table["project"]["version"]
    _compare(tag, f"{_SELECTOR}v{version}", f"selector/pyproject.toml has version {version}")
    folder = project / "jaxlib_select" / "facts"
    facts = [load_facts(name, folder) for name in known_releases(folder)]
    labelled = [f"{entry.distribution} {entry.version}" for one in facts for entry in one.backends]
    labelled = [name for name in labelled if "+" in name]
    if labelled:
        raise UsageError(
            f"jaxlib-select would ask the public index for versions with a label, such as {labelled[0]}",
            remedy="write the facts of wheels without one: ./noxw -s update_facts -- --release VERSION",
        )


def _compare(tag: str, expected: str, cause: str) -> None:
    if tag != expected:
        raise UsageError(f"unexpected tag: {tag!r}", cause=cause, remedy=f"its tag is {expected}")
