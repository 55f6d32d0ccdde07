# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold what is published of a release to the limits of its destination, before anything is sent there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from packaging.utils import canonicalize_name

from pjrtwheel.errors import shorten
from pjrtwheel.publish.destinations import DESTINATIONS_FILE, Destination
from pjrtwheel.record.entries import Entry

_SHOWN = 2


def check_limits(destination: Destination, entries: Iterable[Entry], documents: Collection[str] = ()) -> Iterator[str]:
    """Yield, as a sentence each, why a destination would refuse a release: its wheels, and the names of its documents.

    What is not published there does not count.
    """
    listed = sorted((entry for entry in entries if destination.takes(entry.filename)), key=lambda entry: entry.filename)
    place = destination.name
    yield from _check_names(destination, listed)
    for entry in listed if destination.file_limit else ():
        if entry.size > destination.file_limit:
            yield f"{entry.filename} has {entry.size} bytes, {place} takes files of at most {destination.file_limit}"
    labelled = [entry.filename for entry in listed if "+" in entry.version]
    if labelled and not destination.labels:
        yield f"{place} takes no local version label: {shorten(labelled, _SHOWN)}"
    number = len(listed) * destination.files_per_wheel + sum(map(destination.takes, documents))
    if destination.file_count and number > destination.file_count:
        more = " (with METADATA of each wheel)" if destination.files_per_wheel > 1 else ""
        yield f"{place} takes {destination.file_count} files of one release, this one has {number}{more}"


def _check_names(destination: Destination, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a sentence for each project that is not ours at a destination which takes no others."""
    ours = {canonicalize_name(name) for name in destination.names}
    projects = dict.fromkeys(canonicalize_name(entry.distribution) for entry in entries)
    for project in projects if destination.opt_in else ():
        if project not in ours:
            yield f"{project} is not ours at {destination.name}: it is not in its names in {DESTINATIONS_FILE}"
