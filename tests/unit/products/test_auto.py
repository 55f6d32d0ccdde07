# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-auto`: properties generated from GPU code, requirements, and the wheels."""

import json
import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.choose.cuda import TEGRA, runs
from jaxlib_select.facts import Select
from pjrtwheel.backend import Backend
from pjrtwheel.cli import main
from pjrtwheel.errors import UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.auto import build_auto
from pjrtwheel.products.variants import TEGRA as TEGRA_CHIPS
from pjrtwheel.products.variants import THOR, Group, Variant, compiled, make_variants, nvidia_groups, served
from pjrtwheel.record.entries import Entry, format_entries, read_entries
from pjrtwheel.release.model import Absent
from release_entries import entry_of
from release_under_test import BACKENDS, release_under_test

RELEASE = release_under_test()
VERSION = RELEASE.set_version
CODE12 = ["compute_120", "sm_50", "sm_60", "sm_70", "sm_80", "sm_90", "sm_100", "sm_101", "sm_120"]
CODE13 = ["compute_120", "sm_75", "sm_80", "sm_90", "sm_100", "sm_110", "sm_120"]
SELECT12 = Select(
    "nvidia", 300, driver=(12, 0), toolkit=(12, 9), oldest_capability=(5, 2), constraints={"<7.5": ("cudnn<9.11",)}
)
SELECT13 = Select("nvidia", 400, driver=(13, 0), toolkit=(13, 0), constraints={">=10,<12": ("cublas>=13.2",)})


def properties(cuda: str, real: Iterable[int], virtual: Iterable[int] = ()) -> tuple[str, ...]:
    """Return the properties of a group."""
    return (
        f"nvidia::cuda_version_lower_bound::{cuda}",
        *(f"nvidia::sm_arch::{value}_real" for value in real),
        *(f"nvidia::sm_arch::{value}_virtual" for value in virtual),
    )


def of_cuda12(suffix: str, *real: int, bounds: tuple[str, ...] = ()) -> Group:
    """Return a group of GPUs."""
    return Group(suffix, properties("12.0", real), bounds)


def of_cuda13(suffix: str, *real: int, future: bool = True) -> Group:
    """Return a group of GPUs; those to come compile PTX, others need newer libraries."""
    return Group(suffix, properties("13.0", real, (120, 130, 140, 150) if future else ()), () if future else NEWER)


OLDER, NEWER = ("cudnn<9.11",), ("cublas>=13.2",)
ANY12, ANY13 = replace(SELECT12, oldest_capability=None, constraints={}), replace(SELECT13, constraints={})
GROUPS = [
    (SELECT12, CODE12, "x86_64", [of_cuda12("", 75, 80, 90, 100, 120), of_cuda12("legacy", 52, 60, 70, bounds=OLDER)]),
    (SELECT12, CODE12, "aarch64", [of_cuda12("", 75, 89, 90, 100, 120)]),
    (SELECT13, CODE13, "x86_64", [of_cuda13("", 75, 80, 90, 120), of_cuda13("cc100", 100, future=False)]),
    (SELECT13, CODE13, "aarch64", [of_cuda13("", 75, 89, 90, 120), of_cuda13("cc100", 100, 110, future=False)]),
    (ANY13, CODE13, "x86_64", [of_cuda13("", 75, 80, 90, 100, 120)]),
    (ANY13, [], "x86_64", []),
    (ANY12, CODE12[:3], "x86_64", [of_cuda12("", 50, 60)]),
]


@pytest.mark.parametrize(
    ("select", "code", "architecture", "expected"),
    GROUPS,
    ids=["12", "12 on Arm", "13", "13 on Arm", "no bounds", "no code", "any age"],
)
def test_groups_follow_from_code_and_bounds(
    select: Select, code: list[str], architecture: str, expected: list[Group]
) -> None:
    """No Tegra chip is promised code that it does not run; PTX counts where every driver compiles it."""
    assert nvidia_groups(select, code, architecture) == expected


def offered(capability: tuple[int, int]) -> set[str]:
    """Return the values that the provider offers for a GPU."""
    major, minor = capability
    return {f"{major}{step}_real" for step in range(minor + 1)} | {f"{major}0_virtual"}


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
@pytest.mark.parametrize(("select", "code", "cuda"), [(SELECT12, CODE12, 12), (SELECT13, CODE13, 13)])
def test_variants_agree_with_the_selector(architecture: str, select: Select, code: list[str], cuda: int) -> None:
    """For every GPU: a variant is taken where `jaxlib-select` says that the code runs, and nowhere else."""
    thor = {12: (10, 1), 13: (11, 0)}[cuda]
    chips = [chip for chip in TEGRA if chip[0] < 10 or chip == thor] if architecture == "aarch64" else []
    cards = [divmod(number, 10) for number in (50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120, 121)]
    # An A100, an RTX 30 and the like in an Arm server cannot be distinguished from a Tegra chip: they get the CPU.
    given_up = {(5, 0), (5, 2), (6, 0), (6, 1), (7, 0), (8, 0), (8, 6)} if architecture == "aarch64" else set()
    listed = {
        text.split("::")[2] for group in nvidia_groups(select, code, architecture) for text in group.properties[1:]
    }
    for capability in sorted({*cards, *chips} - given_up):
        oldest = select.oldest_capability
        running = runs(
            capability, code, tegra=False, cuda=(cuda, 0), driver=(cuda, 0), toolkit=(cuda, 9), oldest=oldest
        )
        assert bool(listed & offered(capability)) == running, capability
    assert not any(listed & offered(capability) for capability in given_up)


def test_code_for_one_chip_cannot_be_said() -> None:
    """`sm_90a` and PTX of a minor version have no value of their own; Tegra's chips are those of the selector."""
    assert {*TEGRA_CHIPS, *THOR.values()} == TEGRA
    assert served(["sm_90a", "gfx942"], SELECT13, tegra=False) == []
    assert compiled(["compute_90a"]) == ()
    assert compiled(["compute_86"]) == ((9, 0), (10, 0), (11, 0))


CUDA_VERSIONS = {"cuda12": "12090", "cuda13": "13000"}  # as the libraries state them


def entry(backend: Backend, platform: str, code: Iterable[str] = (), version: str = VERSION) -> Entry:
    """Return an entry of release.json."""
    tag = f"cp312-abi3-{backend.tags[platform]}"
    name = f"{backend.distribution.replace('-', '_')}-{VERSION}-{tag}.whl"
    made = entry_of(name, version=version, lock_id="ff", gpu_code=tuple(code))
    return stating(made, CUDA_VERSIONS.get(backend.name, ""))


def stating(built: Entry, cuda_version: str) -> Entry:
    """Return the entry with a proof in which the library states which CUDA made its PTX."""
    return replace(built, proof=replace(built.proof, pjrt_attributes={"cuda_version": cuda_version}))


PLAIN = (f"jaxlib=={VERSION}", f'jaxlib-cpu=={VERSION}; sys_platform == "linux" and platform_machine == "x86_64"')


def test_only_what_was_built_gets_a_variant() -> None:
    """Labels, platforms and requirements; vendors without a provider, other releases and platforms are left out."""
    built = [
        entry(BACKENDS["cpu"], "linux_x86_64"),
        entry(BACKENDS["tpu"], "linux_x86_64"),
        entry(BACKENDS["rocm7"], "linux_x86_64", ["gfx942"]),
        entry(BACKENDS["cuda12"], "linux_aarch64", CODE12),
        entry(BACKENDS["cuda13"], "linux_x86_64", CODE13, version="0.1.2"),
    ]
    assert make_variants(BACKENDS.values(), built, RELEASE) == [
        Variant("", "any", PLAIN),
        Variant("null", "any", PLAIN),
        Variant(
            "cuda12_sbsa",
            "manylinux_2_27_aarch64",
            (f"jaxlib-cuda-12[with-cuda]=={VERSION}",),
            properties("12.0", [75, 89, 90, 100, 120]),
        ),
        Variant("tpu", "manylinux_2_31_x86_64", (f"jaxlib-tpu=={VERSION}",), ("tpu::present::true",)),
    ]


NO_CPU = tuple(Absent(f"plugin.cpu.{platform}", "cpu", "1", "no such file") for platform in PLATFORMS)


def test_a_release_without_a_wheel_for_the_cpu_asks_for_none() -> None:
    """The plain wheel is for jaxlib alone then; without one that only was not built yet, every pip would fail."""
    built = [entry(BACKENDS["tpu"], "linux_x86_64")]
    plain, *_ = make_variants(BACKENDS.values(), built, replace(RELEASE, absent=NO_CPU))
    assert plain == Variant("", "any", (f"jaxlib=={VERSION}",))
    with pytest.raises(UsageError, match=re.escape(RELEASE.version)):
        make_variants(BACKENDS.values(), built, RELEASE)


def test_the_toolkit_of_the_release_decides_about_ptx() -> None:
    """A newer one than the oldest driver serves: no driver is sure to compile what it made."""
    cpu, cuda = entry(BACKENDS["cpu"], "linux_x86_64"), entry(BACKENDS["cuda13"], "linux_x86_64", CODE13)
    said = [
        any(
            "_virtual" in text
            for variant in make_variants(BACKENDS.values(), [cpu, stating(cuda, number)], RELEASE)
            for text in variant.properties
        )
        for number in ("13000", "13010")
    ]
    assert said == [True, False]
    with pytest.raises(UsageError, match="cuda_version"):
        make_variants(BACKENDS.values(), [cpu, stating(cuda, "")], RELEASE)


@pytest.fixture
def dist(make_wheel: Callable[..., Path]) -> Path:
    """Return a folder with two built wheels and their record."""
    wheels = [entry(BACKENDS["cpu"], "linux_x86_64"), entry(BACKENDS["cuda12"], "linux_x86_64", CODE12)]
    paths = [make_wheel({}, name=wheel.filename) for wheel in wheels]
    listed = {path.name: replace(wheel, sha256=hash_file(path)) for wheel, path in zip(wheels, paths, strict=True)}
    (paths[0].parent / "release.json").write_text(format_entries(listed))
    return paths[0].parent


def test_wheels_documents_and_record_belong_together(dist: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files, what is in one of them, the list of variants, and the record; a second run gives the same bytes."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")  # or the record of a run in the next second has another date
    assert main(["auto", "--root", str(root), "--dist", str(dist), "--release", RELEASE.version]) == 0
    stem = f"jaxlib_auto-{VERSION}-py3-none"
    wheels = [
        f"{stem}-any-null.whl",
        f"{stem}-any.whl",
        f"{stem}-manylinux_2_27_x86_64-cuda12.whl",
        f"{stem}-manylinux_2_27_x86_64-cuda12_legacy.whl",
    ]
    listing = f"jaxlib_auto-{VERSION}-variants.json"
    assert sorted(path.name for path in dist.glob("jaxlib_auto-*")) == [*wheels, listing]
    with zipfile.ZipFile(dist / wheels[3]) as archive:
        info = f"jaxlib_auto-{VERSION}.dist-info"
        members = sorted(archive.namelist())
        metadata = archive.read(f"{info}/METADATA").decode()
        variant = json.loads(archive.read(f"{info}/variant.json"))
    assert members == [f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE", "variant.json")]
    assert f"Requires-Dist: jaxlib-cuda-12[with-cuda]=={VERSION}\nRequires-Dist: nvidia-cudnn-cu12<9.11\n" in metadata
    assert variant["default-priorities"] == {"namespace": ["tpu", "nvidia"]}
    variants = json.loads((dist / listing).read_text())["variants"]
    assert sorted(variants) == ["cuda12", "cuda12_legacy", "null"]
    expected = {"cuda_version_lower_bound": ["12.0"], "sm_arch": ["52_real", "60_real", "70_real"]}
    assert variants["cuda12_legacy"] == variant["variants"]["cuda12_legacy"] == {"nvidia": expected}
    record = read_entries(dist)
    assert {(record[name].sha256, record[name].lock_id) for name in wheels} == {
        (hash_file(dist / name), "ff") for name in wheels
    }
    before = {name: (dist / name).read_bytes() for name in [*wheels, listing]}
    build_auto(root, dist, RELEASE)
    assert {name: (dist / name).read_bytes() for name in before} == before


def listed_variants(dist: Path) -> set[str]:
    """Return the wheels of `jaxlib-auto` that the record of a folder lists."""
    return {name for name, entry in read_entries(dist).items() if entry.distribution == "jaxlib-auto"}


def test_variants_that_are_none_any_more_are_removed_last(dist: Path, root: Path) -> None:
    """Together with their entries, once the list of variants is written."""
    build_auto(root, dist, RELEASE)
    before = {path.name for path in dist.glob("jaxlib_auto-*.whl")}
    entries = read_entries(dist)
    kept = {name: entry for name, entry in entries.items() if entry.distribution != "jaxlib-cuda-12"}
    (dist / "release.json").write_text(format_entries(kept))
    listing = dist / f"jaxlib_auto-{VERSION}-variants.json"
    listing.unlink()
    listing.mkdir()
    with pytest.raises(IsADirectoryError):
        build_auto(root, dist, RELEASE)
    assert {path.name for path in dist.glob("jaxlib_auto-*.whl")} == before
    assert listed_variants(dist) == before
    listing.rmdir()
    build_auto(root, dist, RELEASE)
    names = {f"jaxlib_auto-{VERSION}-py3-none-any-null.whl", f"jaxlib_auto-{VERSION}-py3-none-any.whl"}
    assert {path.name for path in dist.glob("jaxlib_auto-*.whl")} == names
    assert listed_variants(dist) == names


def test_a_folder_that_is_not_of_one_set_is_refused(dist: Path, root: Path, tmp_path: Path) -> None:
    """Wheels of two sets would refuse each other once installed, and no variant may ask for what is not there."""
    first, second = read_entries(dist).values()
    mixed = {first.filename: replace(first, lock_id="00"), second.filename: second}
    (dist / "release.json").write_text(format_entries(mixed))
    for folder, match in ((dist, "2 sets"), (tmp_path / "empty", re.escape(RELEASE.version))):
        folder.mkdir(exist_ok=True)
        with pytest.raises(UsageError, match=match):
            build_auto(root, folder, RELEASE)
        assert list(folder.glob("jaxlib_auto*")) == []
    (dist / second.filename).unlink()
    assert {variant.label for variant in build_auto(root, dist, RELEASE)} == {"", "null"}
