# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `releases/<version>.toml`: the pinned inputs of one JAX release."""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pjrtwheel.errors import FetchError, PinError
from pjrtwheel.tables import TableError, column, read, read_toml, write_json

SCHEMA = 2
OVERRIDES_FILE = "releases/overrides.toml"
_NOT_EMPTY = r"(?s).+"
_DIGEST = r"[0-9a-f]{64}"
# As versions have it in normal form (PEP 440); letters first, since a number would lose its zeros.
LABEL = r"([a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*)?"
_KEY = r"bindings(\.[\w-]+){2}|(?!bindings\.)[\w-]+(\.[\w-]+)+"
# How the keys begin of what is for one Python: a wheel of its own is made from each, and no other wheel.
_OF_ONE_PYTHON = ("bindings.", "kernels.")
_WHEEL = r"[\w.+!]+(-[\w.+!]+){4,5}\.whl"  # PEP 427, and no separator of paths


@dataclass(frozen=True, slots=True)
class Pin:
    """One file of the package index, tied down by its hash.

    Attributes:
        key: Dotted place in the pins file, such as `bindings.cp312.linux_x86_64`.
        project: Project name on the index.
        version: Exact version.
        filename: Name of the wheel file.
        sha256: Hexadecimal digest of the file.
        size: Length of the file in bytes.
    """

    key: str = column(pattern=_KEY)
    project: str = column(pattern=_NOT_EMPTY)
    version: str = column(pattern=_NOT_EMPTY)
    filename: str = column(pattern=_WHEEL)
    sha256: str = column(pattern=_DIGEST)
    size: int = column(minimum=0)


@dataclass(frozen=True, slots=True)
class XlaSource:
    """The XLA revision of a release, for the source provider.

    Attributes:
        commit: Commit of openxla/xla.
        sha256: Digest of that commit's source archive.
        bazel: Bazel version that JAX builds it with.
        verified: Whether the commit was read in JAX's own tree at the release's tag.
        origin: Where the commit was read.
        toolchain_commit: Commit of google-ml-infra/rules_ml_toolchain that goes with it; empty if not known.
        toolchain_sha256: Digest of that commit's source archive; empty if not known.
        contradicted_by: Who names another commit, and which; empty if nobody does.
    """

    commit: str = column(pattern=_NOT_EMPTY)
    sha256: str = column(pattern=_DIGEST)
    bazel: str = column(pattern=_NOT_EMPTY)
    verified: bool = column()
    origin: str = column(pattern=_NOT_EMPTY)
    toolchain_commit: str = column(default="", omit_default=True)
    toolchain_sha256: str = column(pattern=f"({_DIGEST})?", default="", omit_default=True)
    contradicted_by: str = column(default="", omit_default=True)


@dataclass(frozen=True, slots=True)
class Absent:
    """An input that the package index does not have for this release.

    Attributes:
        key: Where its pin would be, such as `plugin.oneapi.linux_x86_64`.
        project: Project name on the index.
        version: The version that was looked for.
        cause: What the index said.
    """

    key: str = column(pattern=_KEY)
    project: str = column(pattern=_NOT_EMPTY)
    version: str = column(pattern=_NOT_EMPTY)
    cause: str = column(pattern=_NOT_EMPTY)


@dataclass(frozen=True, slots=True)
class Override:
    """A person's decision to take a backend's inputs from another version than the release's.

    Attributes:
        backend: Name of the backend.
        version: Version of its projects on the index.
        reason: Why, and on which evidence.
    """

    backend: str = column(pattern=_NOT_EMPTY)
    version: str = column(pattern=_NOT_EMPTY)
    reason: str = column(pattern=_NOT_EMPTY)


@dataclass(frozen=True, slots=True)
class Release:
    """All that belongs to one JAX release.

    Attributes:
        pins: Dotted key → pin.
        digest: sha256 of the file's text.
        path: The file all this was read from.
        version: The JAX release.
        label: Name of our set in the versions of its wheels (PEP 440), such as `split`; empty for those who own the
            names on the public index.
        build: Number of the set: which one it is under its label. Without a label it is the build tag of our `jaxlib`
            (PEP 427), so that installers prefer it to another one of the same version.
        commits: Project → commit of JAX that it was built from, as its `version.py` says.
        extras: Backend → extra of its wheel → what it requires; those that upstream's METADATA gives.
        absent: What the index does not have.
        overrides: Decisions of a person.
        xla: Revision for the source provider; nothing when nobody knows it.
    """

    pins: dict[str, Pin]
    digest: str
    path: Path
    version: str = column(key="release", pattern=_NOT_EMPTY)
    build: int = column(minimum=0)
    label: str = column(pattern=LABEL, default="")
    commits: dict[str, str] = field(default_factory=dict)
    extras: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    absent: tuple[Absent, ...] = ()
    overrides: tuple[Override, ...] = column(key="override", default=())
    xla: XlaSource | None = None

    @property
    def set_version(self) -> str:
        """Version of `jaxlib` and of the plugins: what installers tell our set apart by, such as `0.11.2+split.1`."""
        return f"{self.version}+{self.label}.{self.build}" if self.label else self.version

    @property
    def build_tag(self) -> str:
        """Build tag of our `jaxlib`; empty where its version says which set it is of."""
        return "" if self.label else str(self.build)

    @property
    def shared_digest(self) -> str:
        """The identity of what all wheels of a set share: everything but the files for one Python."""
        shared = replace(
            self,
            pins={key: pin for key, pin in self.pins.items() if not key.startswith(_OF_ONE_PYTHON)},
            absent=tuple(entry for entry in self.absent if not entry.key.startswith(_OF_ONE_PYTHON)),
            digest="",
            path=Path(),
        )
        return hashlib.sha256(write_json(shared).encode()).hexdigest()

    def pin(self, key: str, remedy: str = "") -> Pin:
        """Return the pin at a dotted key; where it is not pinned, the error advises the remedy.

        Raises:
            FetchError: The release has no such input.
        """
        if key in self.pins:
            return self.pins[key]
        if (missing := self.find_absent(key)) is not None:
            raise FetchError(f"release {self.version} has no {key!r}", cause=missing.cause, remedy=remedy)
        raise FetchError(f"release {self.version} pins no {key!r}", cause=f"{self.path} has none", remedy=remedy)

    def find_absent(self, key: str) -> Absent | None:
        """Return what the index said of an input that it does not have; nothing if it was not looked for."""
        return next((entry for entry in self.absent if entry.key == key), None)

    def pythons(self, platform: str) -> tuple[str, ...]:
        """Return the Pythons that there are bindings for, by ABI tag such as `cp314t`, in order."""
        return tuple(parts[1] for parts in self._keys("bindings") if parts[2] == platform)

    def kernels(self, backend: str, platform: str) -> tuple[str, ...]:
        """Return the Pythons that a backend has kernels for, by ABI tag, in order."""
        return tuple(parts[2] for parts in self._keys("kernels", backend) if parts[3] == platform)

    def platforms(self, backend: str) -> tuple[str, ...]:
        """Return the platforms that the index has a backend's library for, in the order of the file."""
        return tuple(parts[2] for parts in self._keys("plugin", backend))

    def override(self, backend: str) -> Override | None:
        """Return the decision to take a backend's inputs from another version, if there is one."""
        return next((entry for entry in self.overrides if entry.backend == backend), None)

    def _keys(self, *start: str) -> list[list[str]]:
        """Return the keys of pins that begin with some parts, each taken apart."""
        parts = (key.split(".") for key in self.pins)
        return [entry for entry in parts if entry[: len(start)] == list(start)]


def parse_release(text: str, path: Path) -> Release:
    """Turn the text of a pins file into a `Release`.

    Raises:
        PinError: The text is not TOML, of another schema, lacks a key, or holds a value that cannot be.
    """
    try:
        table = read_toml(dict[str, Any], text)
        _check_schema(table.pop("schema", None))
        return read(
            Release,
            table,
            pins=_index_pins(read(tuple[Pin, ...], table.pop("pin", None), "pin")),
            digest=hashlib.sha256(text.encode()).hexdigest(),
            path=path,
        )
    except TableError as error:
        raise PinError(
            f"malformed pins file: {path}",
            cause=str(error),
            remedy=f"restore it, or delete it and run: ./noxw pin {path.stem}",
        ) from error


def read_release(path: Path) -> Release:
    """Read a pins file; raise a `PinError` when it is malformed or cannot be read."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PinError(f"cannot read the pins file {path}", cause=str(error)) from error
    return parse_release(text, path)


def _check_schema(schema: object) -> None:
    """Refuse a file of another version of the format, before anything else in it is looked at."""
    if schema != SCHEMA:
        raise TableError(f"schema: expected {SCHEMA}, found {schema!r}")


def _index_pins(pins: tuple[Pin, ...]) -> dict[str, Pin]:
    """Return the pins by key, which no two may share."""
    found: dict[str, Pin] = {}
    for number, pin in enumerate(pins):
        if found.setdefault(pin.key, pin) is not pin:
            raise TableError(f"pin[{number}].key: {pin.key!r} is pinned twice")
    return found
