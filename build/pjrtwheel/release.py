# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `releases/<version>.toml`: the pinned inputs of one JAX release."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjrtwheel.errors import FetchError, PinError, UsageError

DEFAULT_RELEASE = "0.11.2"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Pin:
    """One file of the package index, tied down by its hash.

    Attributes:
        key: Dotted place in the release file, such as `bindings.cp312.linux_x86_64`.
        project: Project name on the index.
        version: Exact version.
        filename: Name of the wheel file.
        sha256: Hexadecimal digest of the file.
        size: Length of the file in bytes.
    """

    key: str
    project: str
    version: str
    filename: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class XlaSource:
    """The XLA revision of a release, for the source provider.

    Attributes:
        commit: Commit of openxla/xla.
        sha256: Digest of that commit's source archive.
        bazel: Bazel version that XLA wants.
        verified: Whether the commit was read in JAX's own tree at the release's tag.
        origin: Where the commit was read.
    """

    commit: str
    sha256: str
    bazel: str
    verified: bool
    origin: str


@dataclass(frozen=True, slots=True)
class Release:
    """All pinned inputs of one JAX release.

    Attributes:
        version: The JAX release.
        build: Build tag of our `jaxlib` wheels (PEP 427), so that they win over upstream's of the same version.
        pins: Dotted key → pin.
        xla: Revision for the source provider.
        digest: sha256 of the file's text: the identity of these inputs.
        path: The file all this was read from.
    """

    version: str
    build: int
    pins: dict[str, Pin]
    xla: XlaSource
    digest: str
    path: Path

    def pin(self, key: str) -> Pin:
        """Return the pin at a dotted key.

        Raises:
            FetchError: The release has no such input.
        """
        try:
            return self.pins[key]
        except KeyError:
            raise FetchError(
                f"release {self.version} pins no {key!r}",
                cause=f"{self.path.name} has: {', '.join(self.pins)}",
                remedy="build it from source with --xla source, or give a library with --xla PATH",
            ) from None

    def pythons(self, platform: str) -> tuple[str, ...]:
        """Return the Python tags this release has bindings for, such as `cp312`, in order."""
        parts = (key.split(".") for key in self.pins)
        return tuple(p[1] for p in parts if p[0] == "bindings" and p[2] == platform)


def parse_release(text: str, path: Path) -> Release:
    """Turn the text of a release file into a `Release`.

    Raises:
        PinError: The text is not TOML, of another schema, or lacks a key.
    """
    try:
        table: dict[str, Any] = tomllib.loads(text)
        if table["schema"] != SCHEMA:
            raise PinError(f"{path} has schema {table['schema']!r}, expected {SCHEMA}")
        return Release(
            version=table["release"],
            build=table["build"],
            pins={entry["key"]: Pin(**entry) for entry in table["pin"]},
            xla=XlaSource(**table["xla"]),
            digest=hashlib.sha256(text.encode()).hexdigest(),
            path=path,
        )
    except tomllib.TOMLDecodeError as error:
        raise PinError(f"not a TOML file: {path}", cause=str(error)) from error
    except (KeyError, TypeError) as error:
        raise PinError(f"release file {path} lacks or misspells {error}") from error


def load_release(root: Path, version: str = DEFAULT_RELEASE) -> Release:
    """Read the release file of a JAX version below `root`.

    Raises:
        UsageError: There is no such release; the message lists those there are.
        PinError: The file is malformed.
    """
    path = root / "releases" / f"{version}.toml"
    known = sorted(p.stem for p in path.parent.glob("[0-9]*.toml"))
    if version not in known:
        raise UsageError(
            f"unknown release: {version!r}",
            cause=f"known releases: {', '.join(known) or 'none'}",
            remedy=f"pin it with: nox -s pin -- {version}",
        )
    return parse_release(path.read_text("utf-8"), path)
