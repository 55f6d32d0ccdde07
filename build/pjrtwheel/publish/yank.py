# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Withdraw a release (PEP 592): installers take it only where it is pinned, and say why it was withdrawn."""

from __future__ import annotations

from dataclasses import dataclass

from pjrtwheel.errors import PublishError, UsageError, shorten
from pjrtwheel.publish.place import Place
from pjrtwheel.sets.projects import BINDINGS
from pjrtwheel.wheel.names import find_name

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What was withdrawn: file names of wheels, and what is left to do until installers see it, if anything."""

    wheels: tuple[str, ...]
    left: str


def yank_release(place: Place, tag: str, reason: str) -> Withdrawal:
    """Yank all wheels of a place that a release has for itself; those that are yanked already may keep their reason.

    `jaxlib` goes first, for the same reason for which it is published last.

    Raises:
        UsageError: No wheel is there.
        PublishError: The destination cannot do that, or did not.
    """
    wheels = {name: parsed for name in place.list_files(()) if (parsed := find_name(name))}
    if not wheels:
        raise UsageError(f"nothing of {tag} is at {place.address}", remedy="check the tag")
    names = tuple(sorted(wheels, key=lambda name: (wheels[name].distribution != BINDINGS, name)))
    left = place.yank(names, reason)
    after = place.list_files(())
    others = [name for name in names if name not in after or after[name].yanked is None]
    if others:
        raise PublishError(
            f"not yanked, as it is read back: {shorten(others, _SHOWN)}",
            cause=f"{place.address} took the command, but shows something else",
            remedy="run the same command again",
        )
    return Withdrawal(names, left)
