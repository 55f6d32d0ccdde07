# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the wheels of a release to what a destination takes, before anything is sent there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.utils import canonicalize_name

from pjrtwheel.dist.release_file import Entry
from pjrtwheel.errors import shorten
from pjrtwheel.publish.destinations import DESTINATIONS_FILE, Destination
from pjrtwheel.wheel.names import is_variant

_SHOWN = 2


def check_limits(destination: Destination, entries: Iterable[Entry], *, documents: int = 0) -> Iterator[str]:
    """Yield, as a sentence each, why a destination would refuse wheels, which a number of documents go with."""
    listed = sorted(entries, key=lambda entry: entry.filename)
    place = destination.name
    yield from _check_names(destination, listed)
    for entry in listed if destination.file_limit else ():
        if entry.size > destination.file_limit:
            yield f"{entry.filename} has {entry.size} bytes, {place} takes files of at most {destination.file_limit}"
    labelled = [entry.filename for entry in listed if "+" in entry.version]
    if labelled and not destination.labels:
        yield f"{place} takes no local version label: {shorten(labelled, _SHOWN)}"
    variants = [entry.filename for entry in listed if is_variant(entry.filename)]
    if variants and not destination.variants:
        yield f"{place} takes no wheel variants: {shorten(variants, _SHOWN)}"
    number = len(listed) + (documents if destination.documents else 0)
    if destination.file_count and number > destination.file_count:
        yield f"{place} takes {destination.file_count} files of one release, this one has {number}"


def _check_names(destination: Destination, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a sentence for each project that is not ours at a destination which takes no others."""
    ours = {canonicalize_name(name) for name in destination.names}
    projects = dict.fromkeys(canonicalize_name(entry.distribution) for entry in entries)
    for project in projects if destination.opt_in else ():
        if project not in ours:
            yield f"{project} is not ours at {destination.name}: it is not in its names in {DESTINATIONS_FILE}"
