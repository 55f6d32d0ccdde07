# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files of a release (PEP 751), for uv and pip: the hash of every wheel, ours by their path next to the lock.

Installers do not look at signatures. With a lock that was verified as a part of its release, they install what was.
"""

import tomllib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w
from packaging.pylock import Pylock, PylockValidationError
from packaging.requirements import Requirement

from pjrtwheel.attest.release_folder import LOCK_PREFIX
from pjrtwheel.errors import AttestError, UsageError, fit, printable
from pjrtwheel.fetch.settings import local_path, read_settings
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
        UsageError: All indexes are on this disk, where nobody else finds what they have.
        FetchError: The package index does not have what the wheels need.
        AttestError: It has other wheels of ours that go before these.
    """
    bindings = [entry for entry in entries if entry.distribution == BINDINGS]
    if not bindings:
        return {}
    settings = read_settings()
    urls = tuple(url for url in settings.urls if not local_path(url))
    if not urls:
        raise UsageError("lock files need an index that others can reach", remedy="leave them out with --no-locks")
    settings = replace(settings, urls=urls, folders=(folder.absolute(),))
    pythons = {parse_name(entry.filename).tag.split("-")[1] for entry in bindings}
    version, release = bindings[0].version, parse_name(bindings[0].filename).release
    locks = {}
    for extra, plugins in sorted(_find_extras(folder, bindings).items()):
        if plugins <= {entry.distribution for entry in entries}:
            needed = [f"jax=={release}", f"{BINDINGS}[{extra}]=={version}"]
            text = compile_requirements(needed, pythons, settings, "--format=pylock.toml")
            name = f"{LOCK_PREFIX}{extra}.toml"
            locks[name] = _name_ours(text, entries).encode()
            check_lock(name, locks[name], entries, {BINDINGS, *plugins})
    return locks


def check_lock(name: str, data: bytes, entries: Collection[Entry], required: Collection[str] = ()) -> None:
    """Make sure that a lock installs the wheels of a release, and all else by an address and with its hash.

    Args:
        name: Its file name.
        data: The file.
        entries: The wheels of the release.
        required: Projects that it must have.

    Raises:
        AttestError: It does not.
    """
    try:
        lock = Pylock.from_dict(tomllib.loads(data.decode()))
    except (PylockValidationError, ValueError) as error:
        raise AttestError(f"{name} is no lock file", cause=printable(str(error))) from error
    wrong = sorted({*required} - {package.name for package in lock.packages})
    for package in lock.packages:
        wheels = package.wheels or ()
        ours = {(entry.filename, entry.sha256) for entry in entries if entry.distribution == package.name}
        listed = {(wheel.path, wheel.hashes.get("sha256")) for wheel in wheels}
        reachable = all((wheel.url or "").startswith(("https://", "http://")) for wheel in wheels)
        hashed = wheels and all("sha256" in wheel.hashes for wheel in wheels)
        other = package.sdist or package.archive or package.directory or package.vcs
        if other or not hashed or (listed != ours if ours else not reachable):
            wrong.append(package.name)
    if wrong:
        raise AttestError(
            f"{name} would install other files than those of the release: {fit(wrong)}",
            cause="expected are the wheels next to it for names of the release, and addresses with hashes for others",
            remedy="give the release a label, or leave the lock files out with --no-locks",
        )


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


def _name_ours(text: str, entries: Collection[Entry]) -> str:
    """Return a lock that has the wheels of a release by their names, which uv has by their place on this disk."""
    document: dict[str, Any] = tomllib.loads(text)
    names = {entry.sha256: entry.filename for entry in entries}
    for package in document["packages"]:
        for wheel in package.get("wheels", ()):
            if filename := names.get(wheel["hashes"]["sha256"]):
                del wheel["url"]
                wheel["path"] = filename
    return tomli_w.dumps(document)
