# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which wheels of static indexes were withdrawn (PEP 592): decisions of a person, with their reasons, in a file.

Installers take such a wheel only where it is pinned, and say why it was withdrawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import PinError, explain
from pjrtwheel.sets.tags import tag_of_wheel
from pjrtwheel.tables import TableError, column, read_toml
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

    reason: str = column(pattern=r"[^\r\n]+")
    date: str = column(pattern=r"\d{4}-\d{2}-\d{2}")
    tag: str = ""
    wheel: str = column(pattern=r"|[^/]+\.whl", default="")


@dataclass(frozen=True, slots=True)
class _YankedFile:
    yanked: tuple[Yanked, ...] = ()


def read_yanked(path: Path) -> tuple[Yanked, ...]:
    """Return the decisions of a file; none where there is no file.

    Raises:
        PinError: It is malformed.
    """
    if not path.is_file():
        return ()
    try:
        listed = read_toml(_YankedFile, path.read_text("utf-8")).yanked
    except (OSError, UnicodeDecodeError, TableError) as error:
        raise PinError(f"{path} cannot be read", cause=explain(error)) from error
    if any(bool(entry.tag) == bool(entry.wheel) for entry in listed):
        raise PinError(f"{path} cannot be read", cause="each entry has either a tag or a wheel")
    return listed


def find_reasons(decisions: Iterable[Yanked], filenames: Iterable[str], tag: str = "") -> dict[str, str]:
    """Return wheel → why it was withdrawn, for some wheels.

    Args:
        decisions: What was decided.
        filenames: The wheels.
        tag: The release that they are of; empty if only their names say that.
    """
    by_wheel = {entry.wheel: entry.reason for entry in decisions if entry.wheel}
    by_tag = {entry.tag: entry.reason for entry in decisions if entry.tag}
    reasons = {}
    for name in filenames:
        found = by_wheel.get(name, by_tag.get(tag or tag_of_wheel(parse_name(name))))
        if found is not None:
            reasons[name] = found
    return reasons
