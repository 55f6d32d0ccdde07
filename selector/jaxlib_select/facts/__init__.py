# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about the wheels of the releases of JAX: one file for each, which the build writes from the wheels.

The build writes these files from the same dataclasses, and `Select` is also the form of the table `[select]`
of a `backend.toml`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jaxlib_select import tables
from jaxlib_select.errors import FactsError, UsageError
from jaxlib_select.machine.model import VERSION, Version
from jaxlib_select.tables import column
from jaxlib_select.versions import in_range, is_final, read_version

SCHEMA = 1
FOLDER = Path(__file__).parent

# Whose wheels: those of this project, from an index or a folder that is named, or JAX's own, from the user's index.
OURS, UPSTREAM = "ours", "upstream"
PROVIDERS = (OURS, UPSTREAM)


@dataclass(frozen=True)
class Select:
    """Which machines a backend serves, beyond what its GPU code says.

    Attributes:
        vendor: Who makes the accelerators: `nvidia`, `amd`, `intel`, `google`, `cpu` for none, or the module of another
            vendor.
        rank: Of several backends that serve a machine equally well, the highest is taken.
        driver: Oldest version of the vendor's driver or runtime, such as the CUDA version that libcuda serves; the
            first number is its major version.
        bundled: Whether the wheel brings the vendor's runtime along, so that a machine without it is fine.
        toolkit: What compiled the intermediate code; a driver must be as new to finish it.
        oldest_capability: Oldest compute capability that is served, where the wheel has code for older ones.
        supported: Chip → oldest runtime with which its vendor supports it; empty when the vendor names no chips.
        integrated: Chips that are part of a processor: they never switch the backend by themselves.
        devices: PCI ids, `vendor:device` or `vendor:first-last`, of the accelerators.
        constraints: Range of compute capabilities → bounds on what comes along.
        notes: Range of compute capabilities → what the user should know.
        upstream: The distribution in which JAX itself publishes it, such as `jax-cuda12-pjrt`; empty if JAX does not.
            An extra of `jax` brings it, which is called as the packaging is here, or else `requirement`.
        requirement: The distribution that brings upstream's, where `jax` has no extra for it.
        libraries: Libraries of the vendor without which upstream's plugin does not register itself.
    """

    vendor: str
    rank: int = 0
    driver: Version | None = column(form=VERSION, omit_default=True, default=None)  # noqa: RUF009  # a `field`
    bundled: bool = column(omit_default=True, default=False)
    toolkit: Version | None = column(form=VERSION, omit_default=True, default=None)  # noqa: RUF009  # as above
    oldest_capability: Version | None = column(form=VERSION, omit_default=True, default=None)  # noqa: RUF009  # as above
    supported: Mapping[str, str] = column(omit_default=True, default_factory=dict)
    integrated: tuple[str, ...] = column(omit_default=True, default=())
    devices: tuple[str, ...] = column(omit_default=True, default=())
    constraints: Mapping[str, tuple[str, ...]] = column(omit_default=True, default_factory=dict)
    notes: Mapping[str, str] = column(omit_default=True, default_factory=dict)
    upstream: str = column(omit_default=True, default="")
    requirement: str = column(omit_default=True, default="")
    libraries: tuple[str, ...] = column(omit_default=True, default=())


@dataclass(frozen=True)
class Source:
    """A file that GPU code was read from: its name, and its digest."""

    file: str
    sha256: str


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
        select: Which machines it serves; None if the backend does not say.
        index_url: Package index that has it, if it is not the user's own.
        package: Its import package.
        sources: Platform → the file that the GPU code was read from.
        absent: Platform → why this release has no wheel for it, though the backend has one in other releases.
    """

    name: str
    distribution: str
    version: str
    family: str
    tags: Mapping[str, str]
    variants: Mapping[str, tuple[str, ...]]
    code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    select: Select | None = None
    index_url: str | None = column(omit_default=True, default=None)
    package: str = ""
    sources: Mapping[str, Source] = field(default_factory=dict)
    absent: Mapping[str, str] = column(omit_default=True, default_factory=dict)

    @property
    def distributions(self) -> tuple[str, ...]:
        """The distributions that bring it: ours, and that of upstream."""
        upstream = self.select.upstream if self.select is not None else ""
        return (self.distribution, upstream) if upstream else (self.distribution,)

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
        jaxlib: Platform → platform tag of the jaxlib that JAX itself publishes, which has an XLA for the CPU.
    """

    release: str
    backends: tuple[Backend, ...]
    requires_python: str = ""
    schema: int = 0
    jaxlib: Mapping[str, str] = field(default_factory=dict)

    def of(self, provider: str) -> Facts:
        """Return what a provider has of the release: upstream's jaxlib is what serves the CPU."""
        if provider == OURS:
            return self
        published = [(entry, entry.select) for entry in self.backends if entry.select is not None]
        backends = [
            replace(entry, distribution="jaxlib", version=self.release, tags=self.jaxlib, absent={})
            if entry.is_cpu
            else replace(entry, distribution=select.requirement or select.upstream, version=self.release)
            for entry, select in published
            if select.upstream or entry.is_cpu
        ]
        return replace(self, backends=tuple(backends))


def known_releases(folder: Path | None = None) -> tuple[str, ...]:
    """Return the JAX releases with known facts, the oldest first, a pre-release before its release."""
    names = [path.stem for path in (folder or FOLDER).glob("[0-9]*.json")]
    return tuple(sorted(names, key=lambda name: (read_version(name) or (), is_final(name), name)))


def releases_within(bounds: str = "", folder: Path | None = None) -> tuple[str, ...]:
    """Return the known releases of JAX within bounds such as `==0.11.2`, `<0.12` or `~=0.11.0`, the newest first.

    A pre-release is taken by its own name only, unless nothing else is known.

    Raises:
        FactsError: None is; the message lists those that are known.
        UsageError: The bounds cannot be read.
    """
    known = known_releases(folder)
    exact = bounds.removeprefix("==").strip()
    if exact in known:
        return (exact,)
    final = [name for name in known if is_final(name)] or known
    try:
        found = [name for name in final if not bounds or in_range(read_version(name) or (), bounds)]
    except ValueError as error:
        remedy = "expected bounds such as '==0.11.2', '<0.12', '~=0.11.0' or '>=0.11,<0.12'"
        raise UsageError(f"bounds on a version cannot be read: {bounds!r}", cause=str(error), remedy=remedy) from error
    if not found:
        raise _unknown(bounds, known, folder)
    return tuple(reversed(found))


def load_facts(release: str = "", folder: Path | None = None) -> Facts:
    """Read the facts about a release of JAX, the newest known one by default; a `FactsError` if there are none."""
    if release and release not in known_releases(folder):
        raise _unknown(f"=={release}", known_releases(folder), folder)
    return _read_once((folder or FOLDER) / f"{release or releases_within(folder=folder)[0]}.json")


def facts_about(version: str, folder: Path | None = None) -> Facts:
    """Return the facts about an installed version of JAX or jaxlib: if nothing is known about it, the newest ones.

    None at all is known in an installation that is damaged: then there are no backends.
    """
    release = version.partition("+")[0]  # a local label says who built it
    try:
        return load_facts(release if release in known_releases(folder) else "", folder)
    except FactsError:
        return Facts(release, ())


def read_facts(path: Path) -> Facts:
    """Read one file of facts; a `FactsError` if it cannot be read, or is not of the form that the build writes."""
    try:
        facts = tables.read(Facts, json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:  # TableError is one
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    if facts.schema != SCHEMA:
        raise _damaged(path, f"schema {facts.schema!r}, expected {SCHEMA}")
    return facts


@functools.cache
def _read_once(path: Path) -> Facts:
    return read_facts(path)


def _damaged(path: Path, cause: str) -> FactsError:
    return FactsError(f"damaged facts: {path}", cause=cause, remedy="install jaxlib-select again")


def _unknown(bounds: str, known: Sequence[str], folder: Path | None) -> FactsError:
    if not known:
        return FactsError(f"no facts about any release in {folder or FOLDER}", remedy="install jaxlib-select again")
    return FactsError(f"nothing is known about jax{bounds}", remedy=f"known releases: {', '.join(known)}")
