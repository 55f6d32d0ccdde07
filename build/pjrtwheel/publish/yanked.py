# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Withdraw a release (PEP 592): installers take it only where it is pinned, and say why it was withdrawn.

Of static indexes, which wheels were withdrawn is in a file: decisions of a person, with their reasons.
"""

import itertools
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import tomli_w

from pjrtwheel.errors import PinError, PublishError, UsageError, explain, shorten
from pjrtwheel.files import write_atomically
from pjrtwheel.publish.destinations import Place
from pjrtwheel.sets.tags import tag_of_wheel
from pjrtwheel.tables import TableError, column, read_toml, write
from pjrtwheel.wheel.names import find_name, parse_name

YANKED_FILE = "releases/yanked.toml"
YANKED_FILENAME = "yanked.toml"  # of a static index, next to it
_SHOWN = 3


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


def yank_release(place: Place, tag: str, reason: str) -> tuple[int, str]:
    """Yank all wheels of a place that a release has for itself; those that are yanked already may keep their reason.

    Returns:
        The number of wheels, and what is left to do until installers see it, if anything.

    Raises:
        UsageError: No wheel is there.
        PublishError: The destination cannot do that, or did not.
    """
    names = sorted(name for name in place.list_files(()) if find_name(name))
    if not names:
        raise UsageError(f"nothing of {tag} is at {place.address}", remedy="check the tag")
    left = place.yank(names, reason)
    after = place.list_files(())
    if others := [name for name in names if name not in after or after[name].yanked is None]:
        raise PublishError(
            f"not yanked, as it is read back: {shorten(others, _SHOWN)}",
            cause=f"{place.address} took the command, but shows something else",
            remedy="run the same command again",
        )
    return len(names), left


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


def add_yanked(path: Path, names: Collection[str], reason: str, date: str) -> None:
    """Write the withdrawal of wheels into a file of decisions; a later reason takes the place of an earlier one.

    Raises:
        PinError: The file is malformed.
        UsageError: The reason is empty or has several lines.
    """
    if not reason.strip() or len(reason.splitlines()) > 1:
        raise UsageError("a withdrawal needs a reason of one line", remedy="say what is wrong, and what to use instead")
    listed = read_yanked(path)
    same = {entry.wheel for entry in listed if entry.reason == reason}
    kept = [entry for entry in listed if entry.wheel not in names or entry.wheel in same]
    added = [Yanked(reason, date, wheel=name) for name in sorted(set(names) - same)]
    before = path.read_text("utf-8") if path.is_file() else ""
    if len(kept) == len(listed):  # what persons wrote around the entries stays
        write_atomically(path, "\n".join(filter(None, (before, _format(added)))))
    else:
        header = "".join(itertools.takewhile(lambda line: line.startswith("#"), before.splitlines(keepends=True)))
        write_atomically(path, "\n".join(filter(None, (header, _format([*kept, *added])))))


def _format(entries: Iterable[Yanked]) -> str:
    """Return entries as tables of TOML, which can follow others."""
    tables = ({key: value for key, value in write(entry).items() if value} for entry in entries)
    return "\n".join(f"[[yanked]]\n{tomli_w.dumps(table)}" for table in tables)


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
