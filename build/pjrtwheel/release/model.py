# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `releases/<version>.toml`: the pinned inputs of one JAX release."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pjrtwheel.errors import FetchError, PinError, UsageError

DEFAULT_RELEASE = "0.11.2"
SCHEMA = 1
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(r"bindings(\.[\w-]+){2}|(?!bindings\.)[\w-]+(\.[\w-]+)+")
_WHEEL = re.compile(r"[\w.+!]+(-[\w.+!]+){4,5}\.whl")  # PEP 427, and no separator of paths


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
        toolchain_commit: Commit of google-ml-infra/rules_ml_toolchain that goes with it; empty if not known.
        toolchain_sha256: Digest of that commit's source archive; empty if not known.
    """

    commit: str
    sha256: str
    bazel: str
    verified: bool
    origin: str
    toolchain_commit: str = ""
    toolchain_sha256: str = ""


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

    def pin(self, key: str, remedy: str = "") -> Pin:
        """Return the pin at a dotted key.

        Args:
            key: The key.
            remedy: What to advise where it is not pinned.

        Raises:
            FetchError: The release has no such input.
        """
        try:
            return self.pins[key]
        except KeyError:
            kind = key.split(".", maxsplit=1)[0] + "."
            alike = ", ".join(known for known in self.pins if known.startswith(kind)) or f"nothing under {kind}"
            raise FetchError(
                f"release {self.version} pins no {key!r}",
                cause=f"{self.path.name} has: {alike}",
                remedy=remedy,
            ) from None

    def pythons(self, platform: str) -> tuple[str, ...]:
        """Return the Python tags this release has bindings for, such as `cp312`, in order."""
        parts = (key.split(".") for key in self.pins)
        return tuple(p[1] for p in parts if p[0] == "bindings" and p[2] == platform)


def parse_release(text: str, path: Path) -> Release:
    """Turn the text of a release file into a `Release`.

    Raises:
        PinError: The text is not TOML, of another schema, lacks a key, or holds a value that cannot be.
    """
    try:
        table: dict[str, Any] = tomllib.loads(text)
        if table["schema"] != SCHEMA:
            raise PinError(f"{path} has schema {table['schema']!r}, expected {SCHEMA}")
        return Release(
            version=_text(table, "release"),
            build=_count(table, "build"),
            pins=_pins(table["pin"]),
            xla=_xla(table["xla"]),
            digest=hashlib.sha256(text.encode()).hexdigest(),
            path=path,
        )
    except tomllib.TOMLDecodeError as error:
        raise PinError(f"not a TOML file: {path}", cause=str(error)) from error
    except KeyError as error:
        raise PinError(f"release file {path} lacks or misspells {error}") from error
    except (TypeError, ValueError) as error:
        raise PinError(f"release file {path} is malformed", cause=str(error)) from error


def read_release(path: Path) -> Release:
    """Read a release file.

    Raises:
        PinError: The file cannot be read or is malformed.
    """
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise PinError(f"release file {path} is not UTF-8", cause=str(error)) from error
    except OSError as error:
        raise PinError(f"cannot read the release file {path}: {error.strerror}") from error
    return parse_release(text, path)


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
            remedy=f"pin it with: ./noxw -s pin -- {version}",
        )
    release = read_release(path)
    if release.version != version:
        raise PinError(f"{path} is of release {release.version!r}", cause="a release file bears its release's name")
    return release


def _pins(entries: object) -> dict[str, Pin]:
    """Return the pins by key; raise an error over one that cannot be."""
    if not isinstance(entries, list):
        raise TypeError(f"pin is {entries!r}, expected tables")
    pins: dict[str, Pin] = {}
    for entry in entries:
        table = _table(entry, Pin)
        key = _text(table, "key", _KEY)
        if key in pins:
            raise ValueError(f"{key!r} is pinned twice")
        pins[key] = Pin(
            key=key,
            project=_text(table, "project"),
            version=_text(table, "version"),
            filename=_text(table, "filename", _WHEEL),
            sha256=_text(table, "sha256", _DIGEST),
            size=_count(table, "size"),
        )
    return pins


def _xla(entry: object) -> XlaSource:
    """Return the XLA revision; raise an error over one that cannot be."""
    table = _table(entry, XlaSource)
    if not isinstance(table["verified"], bool):
        raise TypeError(f"verified is {table['verified']!r}, expected true or false")
    return XlaSource(
        commit=_text(table, "commit"),
        sha256=_text(table, "sha256", _DIGEST),
        bazel=_text(table, "bazel"),
        verified=table["verified"],
        origin=_text(table, "origin"),
        toolchain_commit=_text(table, "toolchain_commit") if table.get("toolchain_commit") else "",
        toolchain_sha256=_text(table, "toolchain_sha256", _DIGEST) if table.get("toolchain_sha256") else "",
    )


def _table(entry: object, kind: type[Pin | XlaSource]) -> Mapping[str, object]:
    """Return a table that has no other keys than the attributes of `kind`."""
    if not isinstance(entry, dict):
        raise TypeError(f"{entry!r} is no table")
    unknown = sorted(set(entry) - {field.name for field in fields(kind)})
    if unknown:
        raise ValueError(f"unknown keys: {', '.join(unknown)}")
    return entry


def _text(table: Mapping[str, object], key: str, form: re.Pattern[str] | None = None) -> str:
    """Return a text that is not empty and has the form, if there is one."""
    value = table[key]
    if not isinstance(value, str) or not value or (form and not form.fullmatch(value)):
        raise ValueError(f"{key} is {value!r}, expected {form.pattern if form else 'text'}")
    return value


def _count(table: Mapping[str, object], key: str) -> int:
    """Return a number from 0 up."""
    value = table[key]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{key} is {value!r}, expected a number")
    return value
