# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the bundle that `PJRTWHEEL_BUNDLE` names does not have; standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pjrtwheel.errors import FetchError, count
from pjrtwheel.release.model import Pin

BUNDLE_VARIABLE = "PJRTWHEEL_BUNDLE"
FILL_AGAIN = "on a machine with a network, run `./noxw -s bundle` again with what is missing"


def check_bundled(pins: Iterable[Pin], environ: Mapping[str, str]) -> None:
    """Raise a `FetchError` where everything is taken from a bundle that lacks one of these, whatever the cache has."""
    bundle = environ.get(BUNDLE_VARIABLE)
    missing = [pin for pin in pins if bundle and not (Path(bundle) / "wheels" / pin.filename).is_file()]
    if missing:
        more = f" and {count(len(missing) - 1, 'other file')}" if missing[1:] else ""
        cause = f"pinned as {missing[0].key}; it was made for other releases, backends or platforms"
        raise FetchError(f"the bundle {bundle} has no {missing[0].filename}{more}", cause=cause, remedy=FILL_AGAIN)


def require_index(environ: Mapping[str, str]) -> None:
    """Raise a `FetchError` where everything is taken from a bundle: what it lacks may exist all the same."""
    if bundle := environ.get(BUNDLE_VARIABLE):
        raise FetchError(
            "only the package index says which releases and files there are",
            cause=f"{BUNDLE_VARIABLE} is set: everything comes from {bundle}, which has what it was made for",
            remedy=f"unset {BUNDLE_VARIABLE}, on a machine with a network",
        )
