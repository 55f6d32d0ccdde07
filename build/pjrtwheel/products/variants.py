# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which variants `jaxlib-auto` has (PEP 817, a draft), and of which machines each is.

GPUs are named in the words of NVIDIA's variant provider. It offers a GPU of compute capability X.Y the values `XY_real`
down to `X0_real`, and `X0_virtual`. So `80_real` is taken by 8.0 and by every later 8.x, Tegra's 8.7 too, although a
Tegra chip runs no code but that made for exactly it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from jaxlib_select.facts import Select
from jaxlib_select.machine.model import format_version
from jaxlib_select.versions import at_least, in_range
from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError
from pjrtwheel.gpucode import NvidiaTarget
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.facts import KnownCode, code_of_set, read_select
from pjrtwheel.record.entries import Entry
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import NULL

_ANY = "any"
# Labels are of one release and not of one platform, so the same backend needs another label elsewhere.
_PLATFORM_SUFFIX = {"linux_x86_64": "", "linux_aarch64": "_sbsa"}
Capability = tuple[int, int]
# What there is in cards and servers, from the first that the provider knows.
_CARDS = tuple(divmod(number, 10) for number in (50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120, 121))
# What there is in Tegra chips: Erista to Orin, and Thor, which has one name under CUDA 12 and another since.
TEGRA = ((5, 3), (6, 2), (7, 2), (8, 7))
THOR = {12: (10, 1), 13: (11, 0)}
_FUTURE = 3  # majors beyond the PTX that will compile it, and that the provider cannot know of


@dataclass(frozen=True, slots=True)
class Variant:
    """One wheel of `jaxlib-auto`.

    Attributes:
        label: Its label; empty for the plain wheel.
        platform: Its platform tag, so that no other machine takes it even where the properties are forced.
        requires: What it asks for.
        properties: Of which machines, as `namespace::feature::value`.
    """

    label: str
    platform: str
    requires: tuple[str, ...]
    properties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """GPUs of one backend that need the same further bounds.

    Attributes:
        suffix: What distinguishes it from the other groups of the backend; empty for the main one.
        properties: Variant properties, `namespace::feature::value`.
        requires: Bounds on what the wheel brings along.
    """

    suffix: str
    properties: tuple[str, ...]
    requires: tuple[str, ...] = ()


_TPU = Group("", ("tpu::present::true",))  # Google's provider says no more than whether there is any


def make_variants(backends: Collection[Backend], entries: Iterable[Entry], release: Release) -> list[Variant]:
    """Return the wheels for what was built: a variant whose package is missing would make installers fail.

    Raises:
        UsageError: There is no wheel for the CPU, which the plain wheel asks for wherever the release has one.
    """
    known = code_of_set(backends, entries, release)
    cpus, plain, variants = list[Backend](), [f"jaxlib=={release.set_version}"], list[Variant]()
    for backend in backends:
        built = {name: known[backend.name, name] for name in backend.tags if (backend.name, name) in known}
        select = read_select(backend, release.version, built.values())
        if select and select.vendor == "cpu":
            cpus.append(backend)
            plain += (_cpu_requirement(backend, platform, release) for platform in built)
        elif select:
            variants += _of_backend(backend, select, built, release.set_version)
    keys = [f"plugin.{backend.name}.{platform}" for backend in cpus for platform in backend.tags]
    if len(plain) == 1 and not all(map(release.find_absent, keys)):
        what = f"no wheel of {release.version} for the CPU was built"
        raise UsageError(what, remedy=f"build it first: ./noxw build_cpu --release {release.version}")
    requires = tuple(plain)
    return [Variant("", _ANY, requires), Variant(NULL, _ANY, requires), *sorted(variants, key=lambda item: item.label)]


def _of_backend(backend: Backend, select: Select, built: Mapping[str, KnownCode], version: str) -> Iterator[Variant]:
    find_groups = {"nvidia": nvidia_groups, "google": lambda *_: [_TPU]}.get(select.vendor)
    if find_groups is None:
        return
    package = f"{backend.requirement}=={version}"
    for platform, entry in built.items():
        for group in find_groups(select, entry.code, PLATFORMS[platform].architecture):
            label = "_".join(filter(None, [backend.name, group.suffix])) + _PLATFORM_SUFFIX[platform]
            yield Variant(label, backend.tags[platform], (package, *group.requires), group.properties)


def _cpu_requirement(backend: Backend, platform: str, release: Release) -> str:
    """Return what the plain wheel asks for where we have a wheel: elsewhere `jaxlib` has an XLA for the CPU."""
    here = f'sys_platform == "linux" and platform_machine == "{PLATFORMS[platform].architecture}"'
    return f"{backend.distribution}=={release.set_version}; {here}"


def nvidia_groups(select: Select, code: Iterable[str], architecture: str) -> list[Group]:
    """Return the groups of GPUs that a wheel serves, each with its properties."""
    names = list(code)
    real = served(names, select, tegra=architecture == "aarch64")
    finished = select.toolkit is not None and at_least(select.driver or (), select.toolkit)  # by every driver
    virtual = compiled(names) if finished else ()
    needs = {capability: _bounds(select.constraints, capability) for capability in (*real, *virtual)}
    main = [capability for capability in real if not needs[capability]]
    return [
        Group(
            _suffix([capability for capability in real if needs[capability] == bounds], main) if bounds else "",
            (
                f"nvidia::cuda_version_lower_bound::{format_version(select.driver)}",
                *(f"nvidia::sm_arch::{x}{y}_real" for x, y in _lowest(c for c in real if needs[c] == bounds)),
                *(f"nvidia::sm_arch::{x}{y}_virtual" for x, y in virtual if needs[x, y] == bounds),
            ),
            bounds,
        )
        for bounds in sorted(set(needs.values()))
    ]


def served(code: Iterable[str], select: Select, *, tegra: bool) -> list[Capability]:
    """Return the compute capabilities whose `_real` value says no more than what the machine code in a wheel keeps."""
    exact = _targets(code, "sm")
    thor = THOR[min(max((select.driver or (0,))[0], 12), 13)]
    chips = (*TEGRA, thor) if tegra else ()
    # A Tegra chip later in the same major would take the value, too.
    cards = [
        card
        for card in _CARDS
        if at_least(card, select.oldest_capability or ())
        and any(x == card[0] and y <= card[1] for x, y in exact - {*TEGRA, *THOR.values()})
        and all(chip in exact for chip in chips if chip[0] == card[0] and chip[1] > card[1])
    ]
    return sorted({*cards, *(chip for chip in chips if chip in exact)})


def compiled(code: Iterable[str]) -> tuple[Capability, ...]:
    """Return the majors, as X.0, for which a driver compiles the PTX in a wheel: its own and those to come."""
    found = _targets(code, "compute")
    own = {target for target in found if target[1] == 0}
    return tuple(sorted(own | {(x + more, 0) for x, _ in found for more in range(1, _FUTURE + 1)}))


def _targets(code: Iterable[str], kind: str) -> set[Capability]:
    """Return the targets of one kind; those bound to one chip or family (`sm_90a`) cannot be said."""
    targets = map(NvidiaTarget.parse, code)
    return {(found.major, found.minor) for found in targets if found and (found.kind, found.suffix) == (kind, "")}


def _bounds(constraints: Mapping[str, tuple[str, ...]], capability: Capability) -> tuple[str, ...]:
    return tuple(
        need for limits, needs in sorted(constraints.items()) if in_range(capability, limits) for need in needs
    )


def _lowest(capabilities: Iterable[Capability]) -> list[Capability]:
    """Return the lowest of each major, whose value the later ones take, too."""
    first: dict[int, Capability] = {}
    for capability in sorted(capabilities):
        first.setdefault(capability[0], capability)
    return sorted(first.values())


def _suffix(group: list[Capability], main: list[Capability]) -> str:
    """Return what to call a group that is not the main one: by age, else by its first GPU."""
    if main and group and group[-1] < main[0]:
        return "legacy"
    return f"cc{group[0][0]}{group[0][1]}" if group else "future"
