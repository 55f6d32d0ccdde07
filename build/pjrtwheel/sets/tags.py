# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Tags of git: `v` and the version of a set, or `select-v` and that of `jaxlib-select`.

Without a local version label the version does not say which set of a release it is, so the tag does: `v0.11.2` is the
first, `v0.11.2+2` the second. The standard library is enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pjrtwheel.errors import WheelError, fit
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.sets import BINDINGS, SELECTOR

if TYPE_CHECKING:  # it needs `packaging`
    from pjrtwheel.wheel.names import WheelName

_SELECTOR = "select-"


@dataclass(frozen=True, slots=True)
class Tag:
    """What a tag says; its text is the tag.

    Attributes:
        version: Version of the wheels.
        number: Which set of a release it is, as the build tag of `jaxlib` says; of no meaning where the version has a
            label.
        selector: Whether it is a tag of `jaxlib-select`, which belongs to no release.
    """

    version: str
    number: str = ""
    selector: bool = False

    def __str__(self) -> str:
        """Return the one spelling of the tag.

        >>> [str(tag) for tag in (Tag("1.2+split.1"), Tag("1.2", "1"), Tag("1.2", "2"), Tag("0.1", selector=True))]
        ['v1.2+split.1', 'v1.2', 'v1.2+2', 'select-v0.1']
        """
        if self.selector:
            return f"{_SELECTOR}v{self.version}"
        number = "" if "+" in self.version or self.number in {"", "1"} else f"+{self.number}"
        return f"v{self.version}{number}"

    @property
    def release(self) -> str:
        """The JAX release; empty for a tag of the selector."""
        return "" if self.selector else self.version.partition("+")[0]


def parse_tag(text: str) -> Tag:
    """Return what a tag says, also if it is misspelt: then its text is another one.

    >>> parse_tag("v1.2+split.1"), parse_tag("v1.2+2").number, str(parse_tag("select-0.1"))
    (Tag(version='1.2+split.1', number='', selector=False), '2', 'select-v0.1')
    """
    selector = text.startswith(_SELECTOR)
    said = text.removeprefix(_SELECTOR).removeprefix("v")
    version, _, number = said.rpartition("+")
    return Tag(version, number, selector) if version and number.isdigit() else Tag(said, selector=selector)


def tag_of(release: Release) -> str:
    """Return the tag of a release's set."""
    return str(Tag(release.set_version, release.build_tag))


def list_tagged(root: Path) -> dict[str, Release]:
    """Return tag → release, for all that are pinned below `root`, the newest last.

    Raises:
        PinError: A release file is malformed.
    """
    return {tag_of(release): release for release in (load_release(root, known) for known in list_releases(root))}


def tag_of_wheel(name: WheelName) -> str:
    """Return the tag of a wheel; of a second set without a label only `jaxlib` says that it is the second."""
    return str(Tag(name.version, name.build, selector=name.distribution == SELECTOR))


def tag_of_wheels(wheels: Iterable[WheelName]) -> str:
    """Return the tag of the wheels of one release, which `jaxlib-select` may go with.

    Raises:
        WheelError: There are none, or they are of several releases.
    """
    names = list(wheels)
    tags = sorted({tag_of_wheel(name) for name in names if name.distribution == BINDINGS}) or sorted(
        {tag_of_wheel(name) for name in names}
    )
    versions = {name.version for name in names if tag_of_wheel(name) in tags}
    others = {name.version for name in names if name.distribution != SELECTOR} - versions
    if len(tags) != 1 or others:
        raise WheelError(
            f"the folder has wheels of {fit([*tags, *sorted(others)]) or 'no release'}",
            cause="what is published together is one release",
            remedy="make the folder of one tag: ./noxw attest --tag TAG",
        )
    return tags[0]
