# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What there is of a release of JAX: on an index of ours, and of upstream's."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.index.release_pages.releases import ListedRelease, Wheel
from pjrtwheel.record.proofs import ORDER, Level
from pjrtwheel.release.known import load_release
from pjrtwheel.sets import BINDINGS
from pjrtwheel.wheel.metadata import read_requirements


@dataclass(frozen=True, slots=True)
class Stock:
    """What there is of a release of JAX.

    Attributes:
        jax: Version of JAX.
        pythons: Package and platform → the Pythons, by ABI tag, that have all that the package needs → the level of the
            weakest proof of these wheels, empty if it is not known.
        plugins: Package and platform → the wheel of an accelerator, on an index of ours.
    """

    jax: str
    pythons: Mapping[tuple[str, str], Mapping[str, str]]
    plugins: Mapping[tuple[str, str], Wheel] = field(default_factory=dict)

    def level(self, package: str, platform: str, python: str, targets: Collection[str] | None) -> str:
        """Return the level of a package on a Python, for devices such as `targets`; nothing means the host's.

        What ran on other devices, or was compiled for them, counts as compiled for these, or as no more than loaded.
        """
        level, wheel = self.pythons[package, platform][python], self.plugins.get((package, platform))
        if targets is None or wheel is None or level not in {Level.DEVICE, Level.AOT}:
            return level
        shown = [(proof, one) for proof in wheel.entry.proofs() for one in proof.pythons if one.python == python]
        ran = any(one.level is Level.DEVICE and not proof.device_words().isdisjoint(targets) for proof, one in shown)
        compiled = any(not one.compiled().isdisjoint(targets) for _, one in shown)
        return level if ran else (Level.AOT if compiled else Level.LOAD).value


def stock_of(release: ListedRelease) -> Stock:
    """Return what an index has of a release, without the wheels that were withdrawn."""
    wheels = [wheel for wheel in release.wheels if wheel.file.yanked is None]
    found: dict[tuple[str, str], dict[str, str]] = {}
    for platform in {wheel.entry.platform for wheel in wheels}:
        here = [wheel for wheel in wheels if wheel.entry.platform in {platform, "any"}]
        for package in {wheel.project for wheel in here}:
            own = [wheel.entry for wheel in here if wheel.project == package]
            needs = {BINDINGS, package, *_find_kernels(package, (text for entry in own for text in entry.requires))}
            levels = found.setdefault((package, platform), {})
            for python in release.pythons:
                fitting = [wheel for wheel in here if wheel.name.tag[:3] == "py3" or wheel.name.fits(python)]
                needed = {wheel.project: wheel.entry.proof.level for wheel in fitting if wheel.project in needs}
                if needed.keys() == needs:
                    levels[python] = min(needed.values(), key=ORDER.index).value
    plugins = {
        (wheel.project, wheel.entry.platform): wheel for wheel in wheels if wheel.is_plugin and not wheel.name.label
    }
    return Stock(release.jax, found, plugins)


def _find_kernels(package: str, requires: Iterable[str]) -> Iterator[str]:
    """Yield what a package always needs of its own; an extra, such as those of `jaxlib`, is a choice."""
    for need in read_requirements(requires):
        if need.name.startswith(f"{package}-") and "extra" not in str(need.marker):
            yield need.name


@cache
def stock_pinned(root: Path, jax: str) -> Stock:
    """Return what upstream has of a release, as it is pinned below `root`: Pythons by the name of our package."""
    release = load_release(root, jax)
    pythons = {(BINDINGS, platform): dict.fromkeys(release.pythons(platform), "") for platform in PLATFORMS}
    for backend in load_backends(root).values():
        for platform in release.platforms(backend.name):
            kernels = release.kernels(backend.name, platform) if backend.kernels else release.pythons(platform)
            both = (python for python in release.pythons(platform) if python in kernels)
            pythons[backend.distribution, platform] = dict.fromkeys(both, "")
    return Stock(release.version, pythons)
