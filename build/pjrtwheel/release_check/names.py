# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Names of ours on the main package index, which whoever asks it next to ours installs from: who has them."""

import itertools
import sys
from collections.abc import Collection
from pathlib import Path

from packaging.utils import canonicalize_name

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.listing import list_digests, read_settings
from pjrtwheel.publish.destinations import load_destinations
from pjrtwheel.sets import PURE_PYTHON


def warn_of_names(root: Path, digests: Collection[str]) -> None:
    """Print a warning of names that are free, or somebody else's, at the first index of pip's configuration.

    Ours are those of the public destination's `names`, and those of which a file with one of these digests is there.
    """
    settings, free, taken = read_settings(), list[str](), list[str]()
    names = {*PURE_PYTHON, *(backend.distribution for backend in load_backends(root).values())}
    public = (place.names for place in load_destinations(root).values() if place.opt_in)
    ours = set(map(canonicalize_name, itertools.chain(*public)))
    try:
        for name in sorted(names) if settings.urls else ():
            found = list_digests(name, settings)
            if found is None:
                free.append(name)
            elif name not in ours and found.isdisjoint(digests):
                taken.append(name)
    except FetchError as error:
        print(f"warning: who has our names on the package index is not known: {error.cause}", file=sys.stderr)
    parts = [f"{', '.join(found)} {state}" for found, state in ((free, "free"), (taken, "somebody else's")) if found]
    if parts:
        print(f"warning: names of ours on the package index: {'; '.join(parts)} (see SECURITY.md)", file=sys.stderr)
