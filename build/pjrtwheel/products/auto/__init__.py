# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build `jaxlib-auto`: a plain wheel for the CPU, and variants (PEP 817, a draft) of which uv takes what fits."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.dist_folder.folder import add_pure_python, withdraw
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.files import write_atomically
from pjrtwheel.products.auto.variants import Variant, make_variants
from pjrtwheel.products.auto.wheel import Common, list_filename, release_document, write_wheels
from pjrtwheel.products.facts import Contents
from pjrtwheel.products.pure_python import requires_python
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, read_entries
from pjrtwheel.sets.projects import AUTO
from pjrtwheel.wheel.report import BuiltWheel


def build_auto(root: Path, dist: Path, contents: Contents) -> list[Variant]:
    """Build the wheels for what a folder has of a release, into that folder; the plain one comes first.

    Raises:
        UsageError: Nothing, or nothing for the CPU, was built into the folder, or its wheels are of several sets.
        VerifyError: A wheel breaks a promise.
        WheelError: A wheel that `release.json` lists is not there.
    """
    version, entries = contents.wheel_version, _listed(dist)
    backends = list(load_backends(root).values())
    variants = make_variants(backends, entries, contents)
    common = _common(root, backends, entries, version)
    with tempfile.TemporaryDirectory(prefix="auto-") as scratch:
        built = write_wheels(variants, common, Path(scratch))
        add_pure_python(built, backends, root, dist)
    write_atomically(dist / list_filename(version), release_document(variants))
    withdraw(_others(built, dist, version), dist)  # last: until now nothing is missing there
    return variants


def _listed(dist: Path) -> list[Entry]:
    """Return the entries of the wheels in a folder; a variant that asks for a wheel that is gone would serve nobody."""
    entries = list(read_entries(dist).values())
    for entry in entries:
        if not (dist / entry.filename).is_file():
            raise WheelError(
                f"{dist / entry.filename} is not there, though {RELEASE_FILENAME} lists it",
                remedy="build the wheels again, or give another folder with --dist",
            )
    return entries


def _common(root: Path, backends: Sequence[Backend], entries: Sequence[Entry], version: str) -> Common:
    names = {backend.distribution for backend in backends}
    listed = [entry for entry in entries if entry.version == version and entry.distribution in names]
    locks = {entry.lock_id for entry in listed}
    if not locks:
        raise UsageError(f"no wheel of {version} was built into the folder", remedy="build it, or name another: --dist")
    if len(locks) != 1:
        raise UsageError(f"the wheels of {version} belong to {len(locks)} sets", remedy="build all of them again")
    return Common(root, version, requires_python(backends), locks.pop())


def _others(built: Sequence[BuiltWheel], dist: Path, version: str) -> set[str]:
    """Return the wheels of an earlier run that this one did not build: uv would still find them."""
    return {path.name for path in dist.glob(f"{_stem(version)}-*.whl")} - {wheel.report.wheel for wheel in built}


def _stem(version: str) -> str:
    return f"{AUTO.replace('-', '_')}-{version}"
