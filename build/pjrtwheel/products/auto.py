# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build `jaxlib-auto`: a plain wheel for the CPU, and variants (PEP 817, a draft) of which uv takes what fits.

They hold nothing but metadata, and are written by our own writer: setuptools gives a wheel without extension modules no
platform tag, and neither it nor `wheel pack` puts a variant's label into a file name. variantlib writes the documents
of PEP 825: `variant.json`, and the list of a release.

GPUs are named in the words of NVIDIA's variant provider. It offers a GPU of compute capability X.Y the values `XY_real`
down to `X0_real`, and `X0_virtual`. So `80_real` is taken by 8.0 and by every later 8.x, Tegra's 8.7 too, although a
Tegra chip runs no code but that made for exactly it.
"""

import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from variantlib.api import make_variant_dist_info
from variantlib.models.variant import VariantDescription, VariantProperty
from variantlib.models.variant_info import ProviderInfo, VariantInfo
from variantlib.variants_json import VariantsJson

from jaxlib_select.facts import Select
from jaxlib_select.machine.model import format_version
from jaxlib_select.versions import at_least, in_range
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.dist_folder.folder import add_pure_python, withdraw
from pjrtwheel.errors import UsageError
from pjrtwheel.files import write_atomically
from pjrtwheel.gpucode import NvidiaTarget
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.facts import KnownCode, code_of_set, read_select
from pjrtwheel.products.pure_python import requires_python
from pjrtwheel.record.entries import Entry, read_entries
from pjrtwheel.release.model import Release
from pjrtwheel.sets import AUTO
from pjrtwheel.wheel.assemble import write_wheel
from pjrtwheel.wheel.metadata import wheel_metadata
from pjrtwheel.wheel.names import NULL, VARIANTS_SUFFIX, WheelName, make_name
from pjrtwheel.wheel.plan import WheelPlan, text_source
from pjrtwheel.wheel.report import BuiltWheel

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
    find_groups = {"nvidia": nvidia_groups, "google": _tpu_groups}.get(select.vendor)
    if find_groups is None:
        return
    extras = ",".join(backend.jaxlib_extras.get(backend.name, ()))
    package = f"{backend.distribution}{f'[{extras}]' if extras else ''}=={version}"
    for platform, entry in built.items():
        for group in find_groups(select, entry.code, PLATFORMS[platform].architecture):
            label = "_".join(filter(None, [backend.name, group.suffix])) + _PLATFORM_SUFFIX[platform]
            yield Variant(label, backend.tags[platform], (package, *group.requires), group.properties)


def _tpu_groups(_select: Select, _code: Iterable[str], _architecture: str) -> list[Group]:
    """Return the one group of Google's accelerators: the provider says whether there is any."""
    return [Group("", ("tpu::present::true",))]


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


_STEM = AUTO.replace("-", "_")
_MEMBER = "variant.json"
_METADATA = """\
Metadata-Version: 2.4
Name: {name.distribution}
Version: {name.version}
Summary: The accelerator package of a JAX release that fits this machine
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: {requires_python}
{requires}Description-Content-Type: text/markdown

{readme}"""
# In order of priority. Namespace → what provides it, and its entry point, which uv wants to be given. uv brings the
# providers along under these names and never installs them; a version outside its own would switch one off.
_PROVIDERS = {
    "tpu": ("tpu-variant-provider", "tpu_variant_provider.plugin:TpuVariantPlugin"),
    "nvidia": ("nvidia-variant-provider>=0.0.1,<1", "nvidia_variant_provider.plugin:NvidiaVariantPlugin"),
}


def build_auto(root: Path, dist: Path, release: Release) -> list[Variant]:
    """Build the wheels for what a folder has of a release, into that folder; the plain one comes first.

    Raises:
        UsageError: Nothing, or nothing for the CPU, was built into the folder, or its wheels are of several sets.
        VerifyError: A wheel breaks a promise.
        WheelError: `release.json` is damaged.
    """
    version = release.set_version
    # A variant that asks for a wheel that is gone would serve nobody.
    entries = [entry for entry in read_entries(dist).values() if (dist / entry.filename).is_file()]
    backends = list(load_backends(root).values())
    variants = make_variants(backends, entries, release)
    lock_id = _find_lock(backends, entries, version)
    readme, licence = (root / path for path in ("selector/auto/README.md", "LICENSE"))
    texts = {"readme": readme.read_text("utf-8"), "requires_python": requires_python(backends)}
    with tempfile.TemporaryDirectory(prefix="auto-") as scratch:
        built = [
            _write(variant, version, lock_id, texts, licence.read_text("utf-8"), Path(scratch)) for variant in variants
        ]
        add_pure_python(built, backends, root, dist)
    write_atomically(dist / list_filename(version), release_document(variants))
    withdraw(_others(built, dist, version), dist)  # last: until now nothing is missing there
    return variants


def _find_lock(backends: Iterable[Backend], entries: Iterable[Entry], version: str) -> str:
    """Return the lock that the wheels of a version share."""
    names = {backend.distribution for backend in backends}
    locks = {entry.lock_id for entry in entries if entry.version == version and entry.distribution in names}
    if not locks:
        raise UsageError(f"no wheel of {version} was built into the folder", remedy="build it, or name another: --dist")
    if len(locks) != 1:
        raise UsageError(f"the wheels of {version} belong to {len(locks)} sets", remedy="build all of them again")
    return locks.pop()


def _others(built: Sequence[BuiltWheel], dist: Path, version: str) -> set[str]:
    """Return the wheels of an earlier run that this one did not build: uv would still find them."""
    return {path.name for path in dist.glob(f"{_STEM}-{version}-*.whl")} - {wheel.report.filename for wheel in built}


def variant_name(variant: Variant, version: str) -> WheelName:
    """Return the name of a variant's wheel, or of the plain one."""
    return make_name(AUTO, version, f"py3-none-{variant.platform}", label=variant.label)


def list_filename(version: str) -> str:
    """Return the name of the list of all variants of a release, which lies next to the wheels."""
    return f"{_STEM}-{version}{VARIANTS_SUFFIX}"


def release_document(variants: Iterable[Variant]) -> str:
    """Return the list of all variants of a release, which lies next to the wheels; the plain wheel is none of them."""
    document = VariantsJson(_info())
    document.variants = {variant.label: _describe(variant) for variant in variants if variant.label}
    return f"{document.to_str()}\n"


def _write(
    variant: Variant, version: str, lock_id: str, texts: Mapping[str, str], licence: str, folder: Path
) -> BuiltWheel:
    """Write one wheel."""
    name = variant_name(variant, version)
    requires = "".join(f"Requires-Dist: {need}\n" for need in variant.requires)
    metadata = _METADATA.format(name=name, requires=requires, **texts)
    files = {"METADATA": metadata, "WHEEL": wheel_metadata(name, purelib=True), "licenses/LICENSE": licence}
    if variant.label:
        files[_MEMBER] = f"{make_variant_dist_info(_describe(variant), _info())}\n"
    members = tuple(text_source(f"{name.dist_info}/{path}", text) for path, text in files.items())
    report = write_wheel(WheelPlan(name, members, metadata, lock_id, "none"), folder)
    return BuiltWheel(folder / report.filename, report)


def _info() -> VariantInfo:
    providers = {name: ProviderInfo(requires=[need], plugin_api=api) for name, (need, api) in _PROVIDERS.items()}
    return VariantInfo(namespace_priorities=list(providers), providers=providers)


def _describe(variant: Variant) -> VariantDescription:
    properties = [VariantProperty(*text.split("::")) for text in variant.properties]
    return VariantDescription(properties, label=variant.label)
