# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Withdraw a release (PEP 592): installers take it only where it is pinned, and say why it was withdrawn."""

from __future__ import annotations

from collections.abc import Collection

from pjrtwheel.errors import PublishError, UsageError, shorten
from pjrtwheel.publish.place import Place
from pjrtwheel.sets.projects import BINDINGS
from pjrtwheel.sets.tags import tag_of_wheel
from pjrtwheel.wheel.names import find_name

_SHOWN = 3


def yank_release(place: Place, tag: str, projects: Collection[str], reason: str) -> tuple[str, ...]:
    """Yank all wheels of a tag, and return their names; those that are yanked already may keep their reason.

    `jaxlib` goes first, for the same reason for which it is published last.

    Raises:
        UsageError: No wheel of this tag is there.
        PublishError: The destination cannot do that, or did not.
    """
    found = place.list_files(projects)
    wheels = {name: parsed for name in found if (parsed := find_name(name)) and tag_of_wheel(parsed) == tag}
    if not wheels:
        tags = sorted({tag_of_wheel(parsed) for name in found if (parsed := find_name(name))})
        raise UsageError(f"nothing of {tag} is at {place.address}", cause=f"it has {', '.join(tags) or 'no wheel'}")
    names = tuple(sorted(wheels, key=lambda name: (wheels[name].distribution != BINDINGS, name)))
    place.yank(names, reason)
    after = place.list_files(projects)
    others = [name for name in names if name not in after or after[name].yanked is None]
    if others:
        raise PublishError(
            f"not yanked, as it is read back: {shorten(others, _SHOWN)}",
            cause=f"{place.address} took the command, but shows something else",
            remedy="run the same command again",
        )
    return names
