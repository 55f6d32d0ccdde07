# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about the wheels of a release: read from files that the build writes from the wheels themselves."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jaxlib_select import tables
from jaxlib_select.errors import FactsError
from jaxlib_select.machine.model import VERSION, Version
from jaxlib_select.tables import column
from jaxlib_select.versions import read_version

SCHEMA = 1


@dataclass(frozen=True)
class Select:
    """Which machines a backend serves, beyond what its GPU code says.

    Attributes:
        vendor: Who makes the accelerators, such as `nvidia`; `cpu` for none.
        rank: Of several backends that serve a machine equally well, the highest is taken.
        driver: Oldest version of the vendor's driver or runtime; the first number is its major version.
        bundled: Whether the wheel brings the vendor's runtime along, so that a machine without it is fine.
        toolkit: What compiled the intermediate code; a driver must be as new to finish it.
        oldest_capability: Oldest compute capability that is served, where the wheel has code for older ones.
        supported: Chip → oldest runtime with which its vendor supports it; empty when the vendor names no chips.
        integrated: Chips that are part of a processor: they never switch the backend by themselves.
        devices: PCI ids, `vendor:device` or `vendor:first-last`, of the accelerators.
        constraints: Range of compute capabilities → bounds on what comes along.
        notes: Range of compute capabilities → what the user should know.
    """

    vendor: str
    rank: int = 0
    driver: Version | None = column(form=VERSION, default=None)  # noqa: RUF009  # `field` of dataclasses
    bundled: bool = False
    toolkit: Version | None = column(form=VERSION, default=None)  # noqa: RUF009  # as above
    oldest_capability: Version | None = column(form=VERSION, default=None)  # noqa: RUF009  # as above
    supported: Mapping[str, str] = field(default_factory=dict)
    integrated: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Backend:
    """One accelerator package of a release.

    Attributes:
        name: Such as `cuda12`.
        distribution: Such as `jaxlib-cuda-12`.
        version: Version of the distribution, which may end in `.*`.
        family: What its platform is called by the program that uses it, such as `cuda`.
        tags: Platform → platform tag of the wheel.
        variants: Name of a packaging → extras to ask for; `cuda12-local` brings no libraries along.
        code: Platform → GPU code in the wheel, such as `sm_90`, `compute_120`, `gfx942`, `spir64`.
        select: Which machines it serves; nothing if the backend does not say.
        index_url: Package index that has it, if it is not the user's own.
        package: Its import package.
    """

    name: str
    distribution: str
    version: str
    family: str
    tags: Mapping[str, str]
    variants: Mapping[str, tuple[str, ...]]
    code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    select: Select | None = None
    index_url: str | None = None
    package: str = ""

    @property
    def is_cpu(self) -> bool:
        """Whether it needs no accelerator."""
        return self.select is not None and self.select.vendor == "cpu"


@dataclass(frozen=True)
class Facts:
    """All accelerator packages of one release.

    Attributes:
        release: Version of JAX (or of another framework) that they belong to.
        backends: In the order of their names.
        requires_python: Which Pythons its wheels run on.
        schema: Of the file.
    """

    release: str
    backends: tuple[Backend, ...]
    requires_python: str = ""
    schema: int = 0


def known_releases(folder: Path = Path(__file__).parent) -> tuple[str, ...]:
    """Return the JAX releases of which the facts are known, the oldest first."""
    names = [path.stem for path in folder.glob("[0-9]*.json")]
    return tuple(sorted(names, key=lambda name: read_version(name) or ()))


@functools.cache
def load_facts(release: str = "", folder: Path = Path(__file__).parent) -> Facts:
    """Read the facts about a release of JAX, the newest known one by default; a `FactsError` if there are none."""
    known = known_releases(folder)
    if not known or (release and release not in known):
        raise FactsError(
            f"nothing is known about JAX release {release!r}" if known else f"no facts about any release in {folder}",
            remedy=f"known releases: {', '.join(known)}" if known else "install jaxlib-select again",
        )
    return read_facts(folder / f"{release or known[-1]}.json")


def read_facts(path: Path) -> Facts:
    """Read one file of facts; a `FactsError` if it cannot be read, or is not of the form that the build writes."""
    try:
        facts = tables.read(Facts, json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:  # TableError is one
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    if facts.schema != SCHEMA:
        raise _damaged(path, f"schema {facts.schema!r}, expected {SCHEMA}")
    return facts


def _damaged(path: Path, cause: str) -> FactsError:
    return FactsError(f"damaged facts: {path}", cause=cause, remedy="install jaxlib-select again")
