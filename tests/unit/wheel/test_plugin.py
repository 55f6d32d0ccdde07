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
from pjrtwheel.errors import ElfError, FetchError, PjrtWheelError, WheelError
from pjrtwheel.wheel.assemble import assemble
from pjrtwheel.wheel.plan import parse_manifest
from pjrtwheel.wheel.report import Report
from release_files import write_release_file
from small_libraries import build_elf

Manifest = dict[str, Any]
Pins = Mapping[str, str]

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
KERNELS_WHEEL = "jaxlib_abacus_kernels-1.0-cp313-cp313-manylinux_2_27_x86_64.whl"
WHEEL = "jaxlib_abacus-1.0-cp312.cp314.cp315-abi3.cp314t.cp315t-manylinux_2_27_x86_64.whl"
LIBRARY = "jaxlib_abacus/abacus.so"
SPIRV = {"__CLANG_OFFLOAD_BUNDLE__sycl-spir64": b"\x03\x02\x23\x07" + bytes(60)}
ORIGIN = {"project": "abacus-pjrt", "version": "1.0", "filename": "abacus_pjrt.whl", "sha256": "aa" * 32}


@pytest.fixture
def manifest(tmp_path: Path) -> Callable[..., Manifest]:
    """Return a function: what the backend has → a manifest with all its inputs on disk."""
    inputs = tmp_path / "inputs"

    def write(path: str, content: bytes | str) -> str:
        return str(write_files(inputs, {path: content}) / path)

    def make(*, bundled: bool = True, kernels: Mapping[str, bytes] | None = None, pins: Pins = PINS) -> Manifest:
        files = {"jaxlib_abacus/__init__.py": write("__init__.py", "")}
        own = {"kind": "plugin", "readme": write("README.md", "# Abacus\n")}
        if kernels:
            own = {"kind": "kernels", "python": "cp313"}
            files = {name: write(f"kernels/{name}", data) for name, data in kernels.items()}
        elif bundled:
            files[LIBRARY] = write("plugin.so", build_elf(extra=SPIRV, rpath="$ORIGIN/../beads:$ORIGIN/../../beads"))
        return {
            "schema": 1,
            "platform": "linux_x86_64",
            "release": str(write_release_file(inputs, pins, version="1.0", label="")),
            "backend": write("abacus/backend.toml", BACKEND % str(bundled).lower() + (KERNELS if bundled else "")),
            "provider": "prebuilt",
            "provenance": write("provenance.json", json.dumps(ORIGIN)),
            "files": files,
            "licenses": {"LICENSE": write("LICENSE", "Apache\n")},
            **own,
            **({} if bundled else {"requirement": "abacus-pjrt==1.0"}),
        }

    return make


@pytest.fixture
def kernels() -> dict[str, bytes]:
    """Return one extension module and one library that is none."""
    library = build_elf(exports=("count",), runpath="$ORIGIN:/opt/abacus/lib:/home/build")
    return {"_sums.so": build_elf(exports=("PyInit__sums",)), "libcount.so": library}


def build(table: Manifest, directory: Path) -> tuple[Report, dict[str, bytes]]:
    """Assemble a wheel; return its report and its members."""
    report = assemble(parse_manifest(json.dumps(table)), directory)
    with zipfile.ZipFile(directory / report.filename) as archive:
        return report, {name: archive.read(name) for name in archive.namelist()}


def refuse(table: Manifest, directory: Path) -> PjrtWheelError:
    """Return the error with which assembly refuses a manifest, after making sure that it left nothing."""
    with pytest.raises((ElfError, FetchError, WheelError)) as caught:
        assemble(parse_manifest(json.dumps(table)), directory)
    assert list(directory.iterdir()) == []
    error: PjrtWheelError = caught.value
    return error


def test_kernels_of_a_python_have_a_wheel_of_their_own(
    manifest: Callable[..., Manifest], kernels: dict[str, bytes], tmp_path: Path
) -> None:
    """Modules get the suffix of their Python, in the package JAX looks into; all else is in a package of our own."""
    report, members = build(manifest(kernels=kernels), tmp_path / "out")
    assert report.filename == KERNELS_WHEEL
    assert report.requires == ("jaxlib==1.0",)
    assert [name for name in members if ".dist-info/" not in name] == [
        "abacus_kernels/_sums.cpython-313-x86_64-linux-gnu.so",
        "jaxlib_abacus_kernels/__init__.py",
        "jaxlib_abacus_kernels/libcount.so",
        "jaxlib_abacus_kernels/provenance.json",
        "jaxlib_abacus_kernels/release_lock.json",
    ]
    document = json.loads(members["jaxlib_abacus_kernels-1.0.dist-info/sboms/pjrtwheel.cdx.json"])
    assert [part["bom-ref"] for part in document["components"]] == ["pkg:pypi/abacus-pjrt@1.0"]
    assert {
        member: [change.partition(" (")[0] for change in changes] for member, changes in report.changes.items()
    } == {
        "abacus_kernels/_sums.cpython-313-x86_64-linux-gnu.so": ["dropped .comment, .symtab, .strtab"],
        "jaxlib_abacus_kernels/libcount.so": ["dropped .comment, .symtab, .strtab", "RUNPATH keeps 2 of 3 elements"],
    }


def test_a_python_that_is_added_changes_no_other_wheel(
    manifest: Callable[..., Manifest], kernels: dict[str, bytes], tmp_path: Path
) -> None:
    """The plugin and the kernels of another Python keep their bytes: with one Python fewer in the release."""
    del (fewer := dict(PINS))["kernels.abacus.cp312.linux_x86_64"]
    for what, given in (("plugin", None), ("kernels", kernels)):
        digests = set()
        for pins in (fewer, PINS):
            report, _ = build(manifest(kernels=given, pins=pins), tmp_path / what / str(len(pins)))
            digests.add((report.filename, report.sha256))
        assert len(digests) == 1, what


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


def test_kernels_for_another_machine_or_no_backend(
    manifest: Callable[..., Manifest], kernels: dict[str, bytes], tmp_path: Path
) -> None:
    """Neither is packed, nor are those of a Python that the release has none for."""
    table = manifest(kernels=kernels)
    assert refuse(table | {"python": "cp399"}, tmp_path / "out").exit_code == FetchError.exit_code
    foreign = manifest(kernels=kernels | {"_sums.so": build_elf(exports=("PyInit__sums",), machine=183)})
    assert "EM_AARCH64" in refuse(foreign, tmp_path / "out").what
    table["backend"] = manifest(bundled=False)["backend"]
    assert table["backend"] in refuse(table, tmp_path / "out").what


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
