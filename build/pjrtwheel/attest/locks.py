# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files of a release (PEP 751): with the hash of every wheel, ours by their path, for uv and pip to install.

Installers do not look at signatures. A lock that was verified with its release holds them to the bytes that were.
"""

import tomllib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w
from packaging.requirements import Requirement

from pjrtwheel.errors import AttestError
from pjrtwheel.fetch.listing import read_settings
from pjrtwheel.products.index.closure import compile_requirements
from pjrtwheel.record.entries import Entry
from pjrtwheel.sets import BINDINGS
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.unpack import read_metadata


def make_locks(folder: Path, entries: Collection[Entry]) -> dict[str, bytes]:
    """Return a lock for each extra of `jaxlib` whose plugin is in a release, by file name: `pylock.EXTRA.toml`.

    Args:
        folder: Where the wheels of the release are.
        entries: These wheels.

    Raises:
        FetchError: The package index does not have what the wheels need.
        AttestError: It has other wheels of ours that go before these.
    """
    bindings = [entry for entry in entries if entry.distribution == BINDINGS]
    if not bindings:
        return {}
    settings = read_settings()
    settings = replace(settings, folders=(folder.absolute(), *settings.folders))
    pythons = {parse_name(entry.filename).tag.split("-")[1] for entry in bindings}
    version, release = bindings[0].version, parse_name(bindings[0].filename).release
    locks = {}
    for extra in _find_extras(folder, entries):
        needed = [f"jax=={release}", f"{BINDINGS}[{extra}]=={version}"]
        text = compile_requirements(needed, pythons, settings, "--format=pylock.toml")
        locks[f"pylock.{extra}.toml"] = _name_ours(text, entries).encode()
    return locks


def _find_extras(folder: Path, entries: Collection[Entry]) -> list[str]:
    """Return the extras of `jaxlib` that need wheels of the release, and nothing of ours that it lacks."""
    ours = {entry.distribution for entry in entries}
    extras: dict[str, set[str]] = {}
    for entry in entries:
        metadata = read_metadata(folder / entry.filename).decode() if entry.distribution == BINDINGS else ""
        for need in map(Requirement, read_field(metadata, "Requires-Dist")):
            for extra in read_field(metadata, "Provides-Extra"):
                if f'extra == "{extra}"' in str(need.marker):
                    extras.setdefault(extra, set()).add(need.name)
    return sorted(extra for extra, needs in extras.items() if needs <= ours)


def _name_ours(text: str, entries: Collection[Entry]) -> str:
    """Return a lock that has the wheels of a release by their names in its folder, next to it."""
    document: dict[str, Any] = tomllib.loads(text)
    for package in document["packages"]:
        ours = [entry for entry in entries if entry.distribution == package["name"]]
        if not ours:
            continue
        found = {wheel["hashes"]["sha256"] for wheel in package["wheels"]}
        if found != {entry.sha256 for entry in ours}:
            raise AttestError(
                f"the package index has other wheels of {package['name']} {package['version']} than the release",
                remedy="give the release another label, or an index without them",
            )
        package["wheels"] = [
            {"path": entry.filename, "size": entry.size, "hashes": {"sha256": entry.sha256}} for entry in ours
        ]
    return tomli_w.dumps(document)
