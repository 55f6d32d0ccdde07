# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel of an accelerator that exists only here: with kernels, extras and code for chips, or without a library."""

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import abacus_backend
from folders import write_files
from pjrtwheel.errors import ElfError, PjrtWheelError, WheelError
from pjrtwheel.wheel.assemble import assemble
from pjrtwheel.wheel.plan import parse_manifest
from pjrtwheel.wheel.report import Report
from release_files import write_release_file
from small_libraries import build_elf

Manifest = dict[str, Any]

LOOKS = 'requires = ["wood"]\nsearch_paths = ["/opt/abacus/lib"]'
BACKEND = f"""{abacus_backend.BACKEND.replace("requires = []", LOOKS)}bundled = %s
[extras]
with-beads = ["beads>=5,<6", 'string; python_version < "3.14"']
"""
KERNELS = """
[kernels]
project = "abacus-kernels"
package = "abacus_kernels"
"""
PINS = {
    "plugin.abacus.linux_x86_64": "abacus_pjrt-1.0-py3-none-any.whl",
    "kernels.abacus.cp312.linux_x86_64": "abacus_kernels-1.0-cp312-cp312-manylinux_2_27_x86_64.whl",
    "kernels.abacus.cp313.linux_x86_64": "abacus_kernels-1.0-cp313-cp313-manylinux_2_27_x86_64.whl",
}
WHEEL = "jaxlib_abacus-1.0-cp312.cp314.cp315-abi3.abi3t.cp314t-manylinux_2_27_x86_64.whl"
LIBRARY = "jaxlib_abacus/abacus.so"
SPIRV = {"__CLANG_OFFLOAD_BUNDLE__sycl-spir64": b"\x03\x02\x23\x07" + bytes(60)}
ORIGIN = {"project": "abacus-pjrt", "version": "1.0", "filename": "abacus_pjrt.whl", "sha256": "aa" * 32}


@pytest.fixture
def manifest(tmp_path: Path) -> Callable[..., Manifest]:
    """Return a function: what the backend has → a manifest with all its inputs on disk."""
    inputs = tmp_path / "inputs"

    def write(path: str, content: bytes | str) -> str:
        return str(write_files(inputs, {path: content}) / path)

    def make(*, bundled: bool = True, kernels: Mapping[str, Mapping[str, bytes]] | None = None) -> Manifest:
        kernels = kernels or {}
        origins = [
            {"python": python, "project": "abacus-kernels", "version": "1.0", "filename": f"{python}.whl", "sha256": s}
            for python, s in zip(kernels, ("bb" * 32, "cc" * 32), strict=False)
        ]
        files = {"jaxlib_abacus/__init__.py": write("__init__.py", "")}
        if bundled:
            files[LIBRARY] = write("plugin.so", build_elf(extra=SPIRV, rpath="$ORIGIN/../beads:$ORIGIN/../../beads"))
        return {
            "schema": 1,
            "kind": "plugin",
            "platform": "linux_x86_64",
            "release": str(write_release_file(inputs, PINS, version="1.0", label="")),
            "backend": write("abacus/backend.toml", BACKEND % str(bundled).lower() + (KERNELS if kernels else "")),
            "provider": "prebuilt",
            "readme": write("README.md", "# Abacus\n"),
            "provenance": write("provenance.json", json.dumps(ORIGIN | ({"kernels": origins} if kernels else {}))),
            "files": files,
            "licenses": {"LICENSE": write("LICENSE", "Apache\n")},
            "kernels": {
                python: [write(f"{python}/{name}", data) for name, data in files.items()]
                for python, files in kernels.items()
            },
            "requirement": "" if bundled else "abacus-pjrt==1.0",
        }

    return make


@pytest.fixture
def kernels() -> dict[str, dict[str, bytes]]:
    """Return, for two Pythons, one extension module and one library that is none."""
    library = build_elf(exports=("count",), runpath="$ORIGIN:/opt/abacus/lib:/home/build")
    return {
        python: {"_sums.so": build_elf(exports=("PyInit__sums", python)), "libcount.so": library}
        for python in ("cp312", "cp313")
    }


def build(table: Manifest, directory: Path) -> tuple[Report, dict[str, bytes]]:
    """Assemble a wheel; return its report and its members."""
    report = assemble(parse_manifest(json.dumps(table)), directory)
    with zipfile.ZipFile(directory / report.filename) as archive:
        return report, {name: archive.read(name) for name in archive.namelist()}


def refuse(table: Manifest, directory: Path) -> PjrtWheelError:
    """Return the error with which assembly refuses a manifest, after making sure that it left nothing."""
    with pytest.raises((ElfError, WheelError)) as caught:
        assemble(parse_manifest(json.dumps(table)), directory)
    assert list(directory.iterdir()) == []
    error: PjrtWheelError = caught.value
    return error


@pytest.fixture
def with_kernels(
    manifest: Callable[..., Manifest], kernels: dict[str, dict[str, bytes]], tmp_path: Path
) -> tuple[Report, dict[str, bytes]]:
    """Return the report and the members of a wheel with kernels."""
    return build(manifest(kernels=kernels), tmp_path / "out")


def test_kernels_of_every_python_lie_side_by_side(with_kernels: tuple[Report, dict[str, bytes]]) -> None:
    """Modules get the suffix of their Python, in the package JAX looks into; the library is there once."""
    report, members = with_kernels
    assert report.filename == WHEEL
    assert [name for name in members if ".dist-info/" not in name] == [
        "abacus_kernels/_sums.cpython-312-x86_64-linux-gnu.so",
        "abacus_kernels/_sums.cpython-313-x86_64-linux-gnu.so",
        "jaxlib_abacus/__init__.py",
        "jaxlib_abacus/__main__.py",
        LIBRARY,
        "jaxlib_abacus/backend.py",
        "jaxlib_abacus/libcount.so",
        "jaxlib_abacus/provenance.json",
        "jaxlib_abacus/release_lock.json",
        "jaxlib_abacus/gpu_code.json",
    ]
    assert b"cp313" in members["abacus_kernels/_sums.cpython-313-x86_64-linux-gnu.so"]


def test_every_library_is_repaired(with_kernels: tuple[Report, dict[str, bytes]]) -> None:
    """Symbol tables go everywhere, and search paths are judged from where each library lies."""
    report, _ = with_kernels
    assert {
        member: [change.partition(" (")[0] for change in changes] for member, changes in report.changes.items()
    } == {
        "abacus_kernels/_sums.cpython-312-x86_64-linux-gnu.so": ["dropped .comment, .symtab, .strtab"],
        "abacus_kernels/_sums.cpython-313-x86_64-linux-gnu.so": ["dropped .comment, .symtab, .strtab"],
        LIBRARY: ["dropped .comment, .symtab, .strtab", "RPATH keeps 1 of 2 elements"],
        "jaxlib_abacus/libcount.so": ["dropped .comment, .symtab, .strtab", "RUNPATH keeps 2 of 3 elements"],
    }
    assert report.changes["jaxlib_abacus/libcount.so"][1].endswith("(1 absolute): $ORIGIN:/opt/abacus/lib")


def test_code_for_chips_is_read_and_reported(manifest: Callable[..., Manifest], tmp_path: Path) -> None:
    """What the libraries hold stands in the wheel and in the report, by member."""
    report, members = build(manifest(), tmp_path / "out")
    files = {LIBRARY: {"sass": [], "ptx": [], "gfx": [], "spirv": ["spir64"]}}
    assert json.loads(members["jaxlib_abacus/gpu_code.json"]) == {"schema": 1, "code": ["spir64"], "files": files}
    assert report.gpu_code == ("spir64",)


def test_what_the_wheel_requires(manifest: Callable[..., Manifest], tmp_path: Path) -> None:
    """Exactly its jaxlib, what the backend needs always, and what its extras add."""
    report, members = build(manifest(), tmp_path / "out")
    assert report.requires == (
        "jaxlib==1.0",
        "wood",
        'beads>=5,<6; extra == "with-beads"',
        'string; python_version < "3.14" and extra == "with-beads"',
    )
    assert b"\nProvides-Extra: with-beads\n" in members["jaxlib_abacus-1.0.dist-info/METADATA"]


def test_bill_of_materials_names_every_wheel_it_was_made_from(with_kernels: tuple[Report, dict[str, bytes]]) -> None:
    """The library's wheel and one for the kernels of each Python, each with its digest."""
    _, members = with_kernels
    document = json.loads(members["jaxlib_abacus-1.0.dist-info/sboms/pjrtwheel.cdx.json"])
    assert {component["bom-ref"]: component["hashes"][0]["content"] for component in document["components"]} == {
        "pkg:pypi/abacus-pjrt@1.0": "aa" * 32,
        "pkg:pypi/abacus-kernels@1.0?file_name=cp312.whl": "bb" * 32,
        "pkg:pypi/abacus-kernels@1.0?file_name=cp313.whl": "cc" * 32,
    }


def test_library_of_another_release_is_named(manifest: Callable[..., Manifest], tmp_path: Path) -> None:
    """Wherever somebody looks: in the provenance, in the report and at the end of the description; not of one's own."""
    table = manifest()
    decision = {"version": "0.9", "reason": "the own one is late"}
    override = '[[override]]\nbackend = "abacus"\n' + "".join(f'{key} = "{text}"\n' for key, text in decision.items())
    with Path(table["release"]).open("a") as release:
        release.write(override)
    report, members = build(table, tmp_path / "out")
    assert report.provenance["override"] == decision
    assert json.loads(members["jaxlib_abacus/provenance.json"])["override"] == decision
    description = "# Abacus\n\n## Library of 0.9\n\nIn this wheel of 1.0, by decision: the own one is late.\n"
    assert members["jaxlib_abacus-1.0.dist-info/METADATA"].decode().endswith(f"\n\n{description}")
    own, members = build(table | {"provider": "file-ff"}, tmp_path / "own")
    assert "override" not in own.provenance
    assert members["jaxlib_abacus-1.0.dist-info/METADATA"].decode().endswith("\n\n# Abacus\n")


def test_library_that_is_required_instead_of_bundled(manifest: Callable[..., Manifest], tmp_path: Path) -> None:
    """Such a wheel has no library, requires the one version that fits, and says in its bill that it has none."""
    report, members = build(manifest(bundled=False), tmp_path / "out")
    assert "abacus-pjrt==1.0" in report.requires
    assert [name for name in members if name.endswith((".so", "gpu_code.json"))] == []
    document = json.loads(members["jaxlib_abacus-1.0.dist-info/sboms/pjrtwheel.cdx.json"])
    assert {"name": "pjrtwheel:bundled", "value": "false"} in document["components"][0]["properties"]


@pytest.mark.parametrize(("bundled", "requirement"), [(True, "abacus-pjrt==1.0"), (False, ""), (False, "other==1.0")])
def test_library_is_either_bundled_or_required(
    manifest: Callable[..., Manifest], tmp_path: Path, *, bundled: bool, requirement: str
) -> None:
    """By exact version, never both and never neither; and no manifest can slip one in."""
    error = refuse(manifest(bundled=bundled) | {"requirement": requirement}, tmp_path / "out")
    assert repr(requirement or "nothing") in error.what
    files = manifest()["files"]
    assert repr(LIBRARY) in refuse(manifest(bundled=False) | {"files": files}, tmp_path / "out").what


def test_prebuilt_wheel_without_its_kernels(
    manifest: Callable[..., Manifest], kernels: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    """Kernels that the backend names are never left out silently; a build from source may have none."""
    table = manifest(kernels=kernels) | {"kernels": {}}
    assert refuse(table, tmp_path / "out").what.startswith("the manifest has no kernels")
    build(table | {"provider": "source"}, tmp_path / "source")


@pytest.mark.parametrize(
    ("python", "name", "options", "values"),
    [
        ("cp313", "", {}, ("cp312", "cp312, cp313")),
        ("cp312", "_more.so", {"exports": ("PyInit__more",)}, ("_more", "cp313")),
        ("cp313", "libcount.so", {"exports": ("other",)}, ("libcount.so", "cp313", "cp312")),
        ("cp313", "_sums.so", {"exports": ("PyInit__sums",), "machine": 183}, ("_sums.so", "cp313", "EM_AARCH64")),
    ],
    ids=["missing Python", "module of one Python", "other bytes", "other machine"],
)
def test_kernels_that_do_not_fit(
    manifest: Callable[..., Manifest],
    kernels: dict[str, dict[str, bytes]],
    tmp_path: Path,
    python: str,
    name: str,
    options: dict[str, Any],
    values: tuple[str, ...],
) -> None:
    """Each Python of the release has the same modules, by what they export, and libraries of the same bytes."""
    if name:
        kernels[python][name] = build_elf(**options)
    table = manifest(kernels=kernels)
    if not name:
        del table["kernels"][python]
    what = refuse(table, tmp_path / "out").what
    assert [value for value in values if value not in what] == []


def test_two_backends_cannot_share_an_extra(
    manifest: Callable[..., Manifest], tmp_path: Path, make_wheel: Callable[..., Path]
) -> None:
    """An extra of jaxlib has one meaning."""
    upstream = make_wheel({}, name="jaxlib-1.0-cp312-cp312-manylinux_2_27_x86_64.whl")
    backend = Path(manifest()["backend"])
    table = {key: manifest()[key] for key in ("schema", "platform", "release", "provider")}
    backend.write_text(BACKEND % "true" + "[jaxlib_extras]\nabacus = []\n")
    bindings = {"kind": "bindings", "python": "cp312", "wheel": str(upstream), "backends": [str(backend)] * 2}
    error = refuse(table | bindings, tmp_path / "out")
    assert (str(backend) in error.what, "'abacus'" in error.what) == (True, True)
