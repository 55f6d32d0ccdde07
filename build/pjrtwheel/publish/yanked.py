# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which wheels of static indexes were withdrawn (PEP 592): decisions of a person, with their reasons, in a file.

Installers take such a wheel only where it is pinned, and say why it was withdrawn.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import PinError, fit
from pjrtwheel.sets.tags import tag_of_wheel
from pjrtwheel.tables import column, load_toml
from pjrtwheel.wheel.names import parse_name

YANKED_FILE = "releases/yanked.toml"
YANKED_FILENAME = "yanked.toml"  # of a static index, next to it


@dataclass(frozen=True, slots=True)
class Yanked:
    """One decision.

    Attributes:
        reason: Why, as installers show it.
        date: When it was decided, such as `2026-11-22`.
        tag: The release that all withdrawn wheels are of; empty if `wheel` names one.
        wheel: File name of the one wheel; empty for all of `tag`.
    """

    reason: str = column(pattern=r".*\S.*")
    date: str = column(pattern=r"\d{4}-\d{2}-\d{2}")
    tag: str = ""
    wheel: str = column(pattern=r"|[^/]+\.whl", default="")


@dataclass(frozen=True, slots=True)
class _YankedFile:
    yanked: tuple[Yanked, ...] = ()


def read_reasons(path: Path, filenames: Iterable[str], tag: str = "") -> dict[str, str]:
    """Return wheel → why it was withdrawn, for some wheels; nothing where there is no file.

    Args:
        path: The file of decisions.
        filenames: The wheels.
        tag: The release that they are of; empty if only their names say that.

    Raises:
        PinError: The file is malformed.
    """
    decisions = load_toml(_YankedFile, path).yanked if path.is_file() else ()
    if any(bool(entry.tag) == bool(entry.wheel) for entry in decisions):
        raise PinError(f"{path} cannot be read", cause="each entry has either a tag or a wheel")
    by_wheel = {entry.wheel: entry.reason for entry in decisions if entry.wheel}
    by_tag = {entry.tag: entry.reason for entry in decisions if entry.tag}
    reasons = {}
    for name in filenames if decisions else ():
        found = by_wheel.get(name, by_tag.get(tag or tag_of_wheel(parse_name(name))))
        if found is not None:
            reasons[name] = found
    return reasons


def check_decisions(path: Path, releases: Mapping[str, Iterable[str]]) -> None:
    """Make sure that each decision is about something: a slip would withdraw nothing, and nobody would see it.

    Args:
        path: The file of decisions.
        releases: Tag → wheels of all releases.

    Raises:
        PinError: An entry names no release and no wheel of these, or the file is malformed.
    """
    wheels = {name for names in releases.values() for name in names}
    for entry in load_toml(_YankedFile, path).yanked if path.is_file() else ():
        if entry.tag not in releases and entry.wheel not in wheels:
            known = f"the releases are {fit(sorted(releases))}"
            raise PinError(f"{path} withdraws {entry.tag or entry.wheel}, which is not there", cause=known)
