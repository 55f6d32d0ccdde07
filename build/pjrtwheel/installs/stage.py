# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A stage, which is an index or a folder of wheels, and what it offers of one set."""

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import Version

from pjrtwheel.errors import ProofError, shorten
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.index import download_wheel
from pjrtwheel.fetch.listing import IndexFile, list_wheels
from pjrtwheel.fetch.settings import IndexSettings, is_address, settings_for, without_login
from pjrtwheel.files import require_folder
from pjrtwheel.platforms import Platform
from pjrtwheel.products.index import HTML_PAGE
from pjrtwheel.release.model import Pin
from pjrtwheel.sets import BINDINGS, PURE_PYTHON, SELECTOR
from pjrtwheel.sets.published import choose_version
from pjrtwheel.wheel.names import WheelName, find_name, is_variant

_INDEX = "simple"  # of a folder as `publish` writes it


@dataclass(frozen=True, slots=True)
class Stage:
    """Where installers are sent to.

    Attributes:
        where: Address of an index without credentials, or a folder.
        url: Address of the index as installers get it; empty for a folder of wheels.
    """

    where: str
    url: str = field(repr=False)

    @property
    def settings(self) -> IndexSettings:
        """The same for our own reading of the stage."""
        return settings_for(self.url) if self.url else IndexSettings((), (Path(self.where),))


@dataclass(frozen=True, slots=True)
class StagedSet:
    """One set at a stage, as far as it is for a platform.

    Attributes:
        version: Version of its wheels, such as `0.12.0.1+split.1`.
        wheels: Its wheels, and those of `jaxlib-select`.
    """

    version: str
    wheels: Mapping[WheelName, IndexFile]

    @property
    def release(self) -> str:
        """The version of JAX that it is for."""
        return Version(self.version).public

    @property
    def pythons(self) -> tuple[str, ...]:
        """ABI tags of the Pythons that it has bindings for."""
        return tuple(sorted(name.tag.split("-")[1] for name in self.wheels if name.distribution == BINDINGS))

    def find(self, distribution: str, python: str) -> WheelName | None:
        """Return the wheel of a distribution that an installer must take for a Python."""
        found = [
            name
            for name in self.wheels
            if name.distribution == distribution and (name.fits(python) or name.tag.endswith("-none-any"))
        ]
        return max(found, key=lambda name: (Version(name.version), name.build_order), default=None)


def open_stage(where: str) -> Stage:
    """Return the stage of an address or a folder: one with wheels, or one with an index.

    Raises:
        UsageError: It is neither.
    """
    if is_address(where, ("https://", "http://")):
        return Stage(without_login(where), where)
    require_folder(Path(where), "give a folder of wheels, or the address of a simple index, as https://HOST/simple/")
    folder = Path(where).resolve()
    has_index = (folder / _INDEX / HTML_PAGE).is_file() and not any(folder.glob("*.whl"))
    return Stage(str(folder), f"{(folder / _INDEX).as_uri()}/" if has_index else "")


def read_set(stage: Stage, distributions: Collection[str], release: str | None, platform: Platform) -> StagedSet:
    """Return the newest set of a stage for a platform, or that of a release or a version.

    Raises:
        UsageError: There is none; the message says what there is.
        FetchError: The stage cannot be read.
    """
    settings = stage.settings
    listed = {
        name: file
        for distribution in sorted({*distributions, BINDINGS, *PURE_PYTHON})
        for file in list_wheels(distribution, settings)
        if file.yanked is None and not is_variant(file.filename) and (name := find_name(file.filename))
        if name.platform == platform or name.tag.endswith("-any")
    }
    bindings = [name for name in listed if name.distribution == BINDINGS]
    version = choose_version(stage.where, bindings, release, platform)
    of_set = {name: file for name, file in listed.items() if name.version == version or name.distribution == SELECTOR}
    return StagedSet(version, of_set)


def check_staged(staged: StagedSet, promised: Iterable[WheelName], asked: Iterable[str]) -> None:
    """Make sure that a set is there as far as it has to be; plugins that are missing are named first.

    Args:
        staged: What the stage offers.
        promised: Wheels that have to be there.
        asked: Distributions of which there has to be a wheel.

    Raises:
        ProofError: Something is not there.
    """
    known = {name.distribution for name in staged.wheels}
    absent = {name.filename for name in promised} - {name.filename for name in staged.wheels}
    missing = [*(name for name in asked if name not in known), *sorted(absent)]
    if missing:
        raise ProofError(
            f"the stage lacks {shorten(missing, 3)}",
            cause=f"its set {staged.version} has {shorten(sorted(known), 8)}",
            remedy="stage them, or choose what is there with --backend and --python",
        )


def fetch_wheel(stage: Stage, name: WheelName, file: IndexFile, cache: Path) -> Path:
    """Return a wheel of a stage on this disk, under the digest that the stage states.

    Raises:
        FetchError: It cannot be downloaded, or has other bytes.
    """
    if not stage.url:
        return Path(stage.where) / file.filename
    pin = Pin(f"stage.{name.distribution}", name.distribution, name.version, file.filename, file.sha256, file.size)
    return WheelCache(cache, functools.partial(download_wheel, index=stage.url)).fetch(pin)
