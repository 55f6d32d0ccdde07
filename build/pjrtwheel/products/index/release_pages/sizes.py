# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is downloaded for each accelerator of a release, and for JAX's own wheels instead."""

from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.products.index.release_pages.releases import ListedRelease, Wheel
from pjrtwheel.release import known
from pjrtwheel.release.model import Pin
from pjrtwheel.wheel.names import parse_name


@dataclass(frozen=True, slots=True)
class Download:
    """One wheel that is downloaded: its project, its size in bytes, and whether each Python has one of its own."""

    project: str
    size: int
    of_one_python: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is downloaded for a wheel on one Python, without what JAX's own wheels need as well.

    Attributes:
        wheel: That of an accelerator, or of the bindings alone.
        ours: The wheels of this index, those of one Python first, the larger first.
        theirs: JAX's own instead; nothing where it is not known which these are.
        is_optional: Whether `jaxlib` has such a library built in.
    """

    wheel: Wheel
    ours: tuple[Download, ...]
    theirs: tuple[Download, ...]
    is_optional: bool

    @property
    def change(self) -> str:
        """By how much ours are larger, in words."""
        ours, theirs = (sum(part.size for part in parts) for parts in (self.ours, self.theirs))
        return describe_change(ours, theirs) if theirs else "not known"


def describe_change(size: int, other: int) -> str:
    """Return by how much a size is larger than another one.

    >>> [describe_change(size, 1000) for size in (985, 990, 1010, 1600)]
    ['2 % smaller', 'about the same', 'about the same', '60 % larger']
    """
    percent = round(100 * (size / other - 1))
    return "about the same" if abs(percent) <= 1 else f"{abs(percent)} % {'larger' if percent > 0 else 'smaller'}"


def compare_sizes(root: Path, release: ListedRelease) -> list[Comparison]:
    """Return a comparison for the bindings alone, then for each accelerator of a release, then those that are optional.

    A library that must not be handed on is the vendor's in both, and for the CPU JAX itself needs its `jaxlib` alone.
    """
    pins = known.load_release(root, release.jax).pins.values() if release.jax in known.list_releases(root) else ()
    by_hash: dict[object, Pin] = {pin.sha256: pin for pin in pins}
    built_in = {backend.distribution for backend in load_backends(root).values() if backend.is_cpu}
    listed = [
        wheel for wheel in release.wheels if wheel.entry.has_library and wheel.python in {"", *release.pythons[:1]}
    ]
    # Of several builds the newest, which installers take.
    listed.sort(key=lambda wheel: wheel.name.build_order)
    wheels = {(wheel.project, wheel.entry.platform, wheel.python): wheel for wheel in listed}.values()
    found = list[Comparison]()
    for wheel in (wheel for wheel in wheels if wheel.is_plugin or wheel.is_bindings):
        needs = wheel.entry.requires
        here = [other for other in wheels if other.entry.platform == wheel.entry.platform]
        parts = [wheel, *(other for other in here if f"{other.project}=={other.entry.version}" in needs)]
        made_of = [by_hash.get(part.entry.provenance.get("sha256")) for part in parts if part.project not in built_in]
        theirs = [_of_pin(pin) for pin in made_of if pin] if all(made_of) else []
        others = (pin for pin in made_of if pin and pin.project not in {part.project for part in parts})
        vendor = [_of_pin(pin) for pin in others if f"{pin.project}=={pin.version}" in needs]
        ours = [Download(part.project, part.entry.size, bool(part.python)) for part in parts] + vendor
        found.append(Comparison(wheel, _in_order(ours), _in_order(theirs), wheel.project in built_in))
    return sorted(found, key=lambda one: (not one.wheel.is_bindings, one.is_optional))


def _of_pin(pin: Pin) -> Download:
    return Download(pin.project, pin.size, bool(parse_name(pin.filename).python))


def _in_order(downloads: list[Download]) -> tuple[Download, ...]:
    return tuple(sorted(downloads, key=lambda one: (not one.of_one_python, -one.size)))
