# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Take a pinned wheel from the bundle that `PJRTWHEEL_BUNDLE` names; standard library only."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable, Mapping
from pathlib import Path

from pjrtwheel.errors import FetchError, count
from pjrtwheel.files import link_or_copy
from pjrtwheel.release.model import Pin

BUNDLE_VARIABLE = "PJRTWHEEL_BUNDLE"
WHEELS_FOLDER = "wheels"
FILL_AGAIN = "on a machine with a network, run `./noxw -s bundle` again with what is missing"


def bundle_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the folder that everything is taken from; nothing where the package index is used."""
    named = environ.get(BUNDLE_VARIABLE)
    return Path(named).absolute() if named else None


def take_from_bundle(pin: Pin, bundle: Path, directory: Path) -> Path:
    """Put the pinned wheel into a directory, as a hard link where the disk is the same; the caller compares its hash.

    Raises:
        FetchError: The bundle does not have it.
    """
    source = bundle / WHEELS_FOLDER / pin.filename
    if not source.is_file():
        raise FetchError(f"the bundle {bundle} has no {pin.filename}", cause=f"pinned as {pin.key}", remedy=FILL_AGAIN)
    target = directory / pin.filename
    link_or_copy(source, target)
    return target


def check_bundled(pins: Iterable[Pin], environ: Mapping[str, str]) -> None:
    """Raise a `FetchError` where everything is taken from a bundle that lacks one of these, whatever the cache has."""
    bundle = bundle_folder(environ)
    missing = [pin for pin in pins if bundle and not (bundle / WHEELS_FOLDER / pin.filename).is_file()]
    if missing:
        more = f" and {count(len(missing) - 1, 'other file')}" if missing[1:] else ""
        cause = f"pinned as {missing[0].key}; it was made for other releases, backends or platforms"
        raise FetchError(f"the bundle {bundle} has no {missing[0].filename}{more}", cause=cause, remedy=FILL_AGAIN)


def require_index(environ: Mapping[str, str]) -> None:
    """Raise a `FetchError` where everything is taken from a bundle: what it lacks may exist all the same."""
    if bundle := bundle_folder(environ):
        raise FetchError(
            "only the package index says which releases and files there are",
            cause=f"{BUNDLE_VARIABLE} is set: everything comes from {bundle}, which has what it was made for",
            remedy=f"unset {BUNDLE_VARIABLE}, on a machine with a network",
        )


def refuse_address(url: str, environ: Mapping[str, str]) -> None:
    """Raise a `FetchError` for an address that somebody named by hand, where everything is taken from a bundle."""
    if (bundle := bundle_folder(environ)) and urllib.parse.urlsplit(url).scheme not in {"", "file"}:
        host = urllib.parse.urlsplit(url).hostname or url
        raise FetchError(
            f"nothing is taken from {host}",
            cause=f"{BUNDLE_VARIABLE} is set: everything comes from {bundle}",
            remedy=f"name a folder that was copied from there, or unset {BUNDLE_VARIABLE}",
        )
