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
    for extra, plugins in sorted(_find_extras(folder, bindings).items()):
        if plugins <= {entry.distribution for entry in entries}:
            needed = [f"jax=={release}", f"{BINDINGS}[{extra}]=={version}"]
            text = compile_requirements(needed, pythons, settings, "--format=pylock.toml")
            ours = [entry for entry in entries if entry.distribution in {BINDINGS, *plugins}]
            locks[f"pylock.{extra}.toml"] = _name_ours(text, ours).encode()
    return locks


def _find_extras(folder: Path, bindings: Collection[Entry]) -> dict[str, set[str]]:
    """Return the extras of `jaxlib`, and the plugins that each needs."""
    extras: dict[str, set[str]] = {}
    for entry in bindings:
        metadata = read_metadata(folder / entry.filename).decode()
        for need in map(Requirement, read_field(metadata, "Requires-Dist")):
            for extra in read_field(metadata, "Provides-Extra"):
                if f'extra == "{extra}"' in str(need.marker):
                    extras.setdefault(extra, set()).add(need.name)
    return extras


def _name_ours(text: str, ours: Collection[Entry]) -> str:
    """Return a lock that has our wheels by their names, as they lie next to it."""
    document: dict[str, Any] = tomllib.loads(text)
    expected: dict[str, list[Entry]] = {}
    for entry in ours:
        expected.setdefault(entry.distribution, []).append(entry)
    found = {package["name"]: package for package in document["packages"]}
    for name, entries in expected.items():
        locked = {wheel["hashes"]["sha256"] for wheel in found.get(name, {}).get("wheels", ())}
        if not {entry.sha256 for entry in entries} <= locked:
            raise AttestError(
                f"the package index has other wheels of {name} that go before those of the release",
                remedy="give the release a label, or leave the lock files out with --no-locks",
            )
        found[name]["wheels"] = [
            {"path": entry.filename, "size": entry.size, "hashes": {"sha256": entry.sha256}} for entry in entries
        ]
    return tomli_w.dumps(document)
