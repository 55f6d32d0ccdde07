# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From manifest or wheel to finished wheel, by way of the command line's own functions."""

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.bazel.recheck import check_against_inputs
from pjrtwheel.cli import main
from pjrtwheel.errors import ElfError, WheelError
from pjrtwheel.wheel.assemble import assemble, repair_wheel
from pjrtwheel.wheel.members import parse_record
from pjrtwheel.wheel.plan import parse_manifest
from release_files import write_release_file
from small_libraries import build_elf, build_macho

MakeWheel = Callable[..., Path]
Manifest = dict[str, Any]

RELEASE = "releases/1.2.3.toml"
LIBRARY = "jaxlib_cpu/pjrt_c_api_cpu_plugin.so"
PLUGIN_WHEEL = "jaxlib_cpu-1.2.3-cp312.cp314.cp315-abi3.cp314t.cp315t-manylinux_2_27_x86_64.whl"
UPSTREAM = "jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl"
BINDINGS_WHEEL = "jaxlib-1.2.3-3-cp312-cp312-manylinux_2_27_x86_64.whl"


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Return a directory whose name is hard to quote, with a release file in it."""
    directory = tmp_path / "in puts é"
    directory.mkdir()
    write_release_file(directory, {"plugin.cpu.linux_x86_64": "abacus-1-py3-none-any.whl"}, label="", build=3)
    return directory


@pytest.fixture
def plugin(root: Path, inputs: Path) -> Manifest:
    """Return the manifest of a plugin wheel, with all its inputs on disk."""
    for name, data in {
        "plugin.so": build_elf(),
        "__init__.py": b"",
        "README.md": "# Tïtle\n".encode(),
        "LICENSE": b"Apache\n",
        "provenance.json": json.dumps({"project": "p", "version": "1", "sha256": "ab"}).encode(),
    }.items():
        (inputs / name).write_bytes(data)
    return {
        "schema": 1,
        "kind": "plugin",
        "platform": "linux_x86_64",
        "release": str(inputs / RELEASE),
        "backend": str(root / "plugins" / "cpu" / "backend.toml"),
        "provider": "prebuilt",
        "readme": str(inputs / "README.md"),
        "provenance": str(inputs / "provenance.json"),
        "files": {LIBRARY: str(inputs / "plugin.so"), "jaxlib_cpu/__init__.py": str(inputs / "__init__.py")},
        "licenses": {"LICENSE": str(inputs / "LICENSE")},
    }


@pytest.fixture
def bindings(root: Path, inputs: Path, make_wheel: MakeWheel) -> Manifest:
    """Return the manifest of a bindings wheel, with all its inputs on disk."""
    upstream = make_wheel(
        {"jaxlib/__init__.py": b"x = 1\n", "jaxlib/_jax.so": build_elf(exports=("any",))}, name=UPSTREAM
    )
    return {
        "schema": 1,
        "kind": "bindings",
        "platform": "linux_x86_64",
        "release": str(inputs / RELEASE),
        "provider": "prebuilt",
        "python": "cp312",
        "wheel": str(upstream),
        "backends": [str(root / "plugins" / "cpu" / "backend.toml")],
    }


def run(manifest: Manifest, directory: Path) -> dict[str, Any]:
    """Assemble by the command line and return the report."""
    directory.mkdir(exist_ok=True)
    path = directory / "manifest.json"
    path.write_text(json.dumps(manifest))
    assert main(["assemble", "--manifest", str(path), "--output", str(directory)]) == 0
    path.unlink()
    report: dict[str, Any] = json.loads((directory / "report.json").read_text())
    return report


def contents(path: Path) -> dict[str, bytes]:
    """Return the members of a wheel, after holding each against RECORD."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    record_path = next(name for name in members if name.endswith("/RECORD"))
    assert list(members)[-1] == record_path
    record = parse_record(members[record_path].decode())
    for name, data in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        expected = ("", None) if name == record_path else (f"sha256={digest}", len(data))
        assert (record[name].digest, record[name].size) == expected
    assert set(record) == set(members)
    return members


def test_plugin_wheel(plugin: Manifest, tmp_path: Path) -> None:
    """A plugin wheel holds the files of the manifest and what assembly derives, its metadata last."""
    report = run(plugin, tmp_path / "out")
    members = contents(tmp_path / "out" / PLUGIN_WHEEL)
    info = "jaxlib_cpu-1.2.3.dist-info"
    assert list(members) == [
        "jaxlib_cpu/__init__.py",
        "jaxlib_cpu/__main__.py",
        "jaxlib_cpu/backend.py",
        "jaxlib_cpu/backend.toml",
        LIBRARY,
        "jaxlib_cpu/provenance.json",
        "jaxlib_cpu/release_lock.json",
        f"{info}/METADATA",
        f"{info}/WHEEL",
        f"{info}/entry_points.txt",
        f"{info}/licenses/LICENSE",
        f"{info}/sboms/pjrtwheel.cdx.json",
        f"{info}/RECORD",
    ]
    assert members[f"{info}/METADATA"].decode().endswith("\n\n# Tïtle\n")
    assert json.loads(members["jaxlib_cpu/release_lock.json"])["lock_id"] == report["lock_id"]
    assert json.loads(members["jaxlib_cpu/provenance.json"]) == report["provenance"]


def test_a_higher_level_gives_a_smaller_wheel_of_the_same_members(plugin: Manifest, tmp_path: Path) -> None:
    """Compression is all that differs."""
    plugin["files"]["jaxlib_cpu/text.py"] = str(Path(__file__))
    spec = parse_manifest(json.dumps(plugin))
    fast, small = (assemble(spec, tmp_path / str(level), level) for level in (1, 12))
    assert small.size < fast.size
    assert contents(tmp_path / "12" / small.filename) == contents(tmp_path / "1" / fast.filename)


def test_bindings_wheel(bindings: Manifest, tmp_path: Path) -> None:
    """Our jaxlib is upstream's, with repaired libraries, lock, extras, build tag and bill of materials."""
    report = run(bindings, tmp_path / "out")
    members = contents(tmp_path / "out" / BINDINGS_WHEEL)
    assert list(members) == [
        "jaxlib/__init__.py",
        "jaxlib/_jax.so",
        "jaxlib/release_lock.json",
        "jaxlib-1.2.3.dist-info/METADATA",
        "jaxlib-1.2.3.dist-info/WHEEL",
        "jaxlib-1.2.3.dist-info/sboms/pjrtwheel.cdx.json",
        "jaxlib-1.2.3.dist-info/RECORD",
    ]
    assert report["requires"] == ["numpy>=2.0", 'jaxlib-cpu==1.2.3; sys_platform == "linux" and extra == "cpu"']
    assert report["provenance"]["sha256"] == hashlib.sha256(Path(bindings["wheel"]).read_bytes()).hexdigest()
    assert b"Build: 3\n" in members["jaxlib-1.2.3.dist-info/WHEEL"]


def test_both_kinds_share_the_lock(plugin: Manifest, bindings: Manifest, tmp_path: Path) -> None:
    """Wheels of one release and provider carry the same lock document; another provider gives another."""
    locks = [run(manifest, tmp_path / "out")["lock_id"] for manifest in (plugin, bindings)]
    assert locks[0] == locks[1] != run(plugin | {"provider": "source"}, tmp_path / "out")["lock_id"]


def change_manifest(plugin: Manifest, key: str) -> Manifest:
    """Return a manifest that does not fit, by what is wrong with it."""
    files = plugin["files"]
    changes: dict[str, Manifest] = {
        "/no/such/file": {"readme": "/no/such/file"},
        "README.md": {"provenance": plugin["readme"]},
        "release_lock.json": {"files": files | {"jaxlib_cpu/release_lock.json": files[LIBRARY]}},
    }
    return plugin | changes[key]


@pytest.mark.parametrize("what", ["/no/such/file", "README.md", "release_lock.json"])
def test_wrong_manifests(plugin: Manifest, tmp_path: Path, what: str) -> None:
    """A manifest that does not fit stops before anything is written, and the file is named."""
    with pytest.raises(WheelError) as caught:
        assemble(parse_manifest(json.dumps(change_manifest(plugin, what))), tmp_path / "out")
    assert what in caught.value.what
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("library", [b"no library", {"machine": 183}, {"exports": ("main",)}])
def test_wrong_libraries(plugin: Manifest, inputs: Path, tmp_path: Path, library: bytes | Manifest) -> None:
    """A library that is no plugin for the platform is refused by wheel and member, and nothing is written."""
    (inputs / "plugin.so").write_bytes(library if isinstance(library, bytes) else build_elf(**library))
    with pytest.raises(ElfError) as caught:
        assemble(parse_manifest(json.dumps(plugin)), tmp_path / "out")
    assert f"{LIBRARY} in {PLUGIN_WHEEL}" in caught.value.what
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("stem", ["1.2.3-cp312-cp312-macosx_10_14_x86_64", "1.2.2-cp312-cp312-manylinux_2_27_x86_64"])
def test_upstream_of_another_platform_or_release(
    bindings: Manifest, make_wheel: MakeWheel, tmp_path: Path, stem: str
) -> None:
    """An Intel Mac is none of ours, and its wheel is not taken for one of Linux."""
    other = make_wheel({}, name=f"jaxlib-{stem}.whl")
    with pytest.raises(WheelError, match=f"{other.name} is not for "):
        assemble(parse_manifest(json.dumps(bindings | {"wheel": str(other)})), tmp_path / "out")


def test_repair_of_a_finished_wheel(make_wheel: MakeWheel, tmp_path: Path) -> None:
    """Repair keeps name and metadata, repairs the libraries, and has nothing to do a second time."""
    wheel = make_wheel({"demo/lib.so": build_elf(stack_flags=7), "demo/data.txt": b"data"})
    before = contents(wheel)
    report = repair_wheel(wheel, tmp_path / "out")
    after = contents(tmp_path / "out" / wheel.name)
    assert report.changes == {
        "demo/lib.so": ("dropped .comment, .symtab, .strtab (552 bytes)", "cleared the executable-stack flag")
    }
    assert {name for name in before if before[name] != after[name]} == {"demo/lib.so", "demo-1.0.dist-info/RECORD"}
    again = repair_wheel(tmp_path / "out" / wheel.name, tmp_path / "again")
    assert (again.changes, again.sha256) == ({}, report.sha256)
    with pytest.raises(WheelError, match="would be overwritten"):
        repair_wheel(wheel, wheel.parent)


def test_what_cannot_be_repaired(make_wheel: MakeWheel, tmp_path: Path) -> None:
    """A library for another machine than the tag promises, and wheels of systems where others repair them."""
    foreign = make_wheel({"demo/lib.so": build_elf(machine=183)}, name="demo-1.0-py3-none-manylinux_2_17_x86_64.whl")
    macos = make_wheel({"demo/_a.so": build_macho()}, name="demo-1.0-cp312-cp312-macosx_11_0_arm64.whl")
    for wheel, error, text in ((foreign, ElfError, f"demo/lib.so in {foreign.name}"), (macos, WheelError, macos.name)):
        with pytest.raises(error, match=text):
            repair_wheel(wheel, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


Recheck = Callable[[Manifest], str]


@pytest.fixture
def recheck(inputs: Path, tmp_path: Path) -> Recheck:
    """Return a function: a manifest → why the wheel in the output folder is not the one that it makes."""

    def check(manifest: Manifest) -> str:
        (wheel,) = (tmp_path / "out").glob("*.whl")
        (inputs / "manifest.json").write_text(json.dumps(manifest))
        try:
            check_against_inputs(wheel, inputs / "manifest.json")
        except WheelError as error:
            return error.what
        return ""

    return check


@pytest.mark.parametrize("kind", ["plugin", "bindings"])
def test_a_wheel_is_held_to_its_inputs(
    request: pytest.FixtureRequest, kind: str, inputs: Path, tmp_path: Path, recheck: Recheck
) -> None:
    """What assembly wrote passes, libraries repaired or not, and every change of an input is noticed."""
    manifest: Manifest = request.getfixturevalue(kind)
    run(manifest, tmp_path / "out")
    assert recheck(manifest) == ""
    release = inputs / RELEASE
    release.write_text(release.read_text().replace("build = 3", 'build = 3\ncommits = { jax = "ab" }'))
    assert recheck(manifest).endswith("/release_lock.json")


@pytest.mark.parametrize("value", [744.0, 0])
def test_a_report_is_held_to_the_inputs(plugin: Manifest, tmp_path: Path, recheck: Recheck, value: float) -> None:
    """What it says becomes part of release.json."""
    report = run(plugin, tmp_path / "out")
    (tmp_path / "out" / "report.json").write_text(json.dumps({**report, "stripped_bytes": value}))
    assert recheck(plugin).endswith(": report.json")


def test_another_wheel_is_refused(plugin: Manifest, inputs: Path, tmp_path: Path, recheck: Recheck) -> None:
    """One with a file more and a file less, the result of another action, or one without RECORD."""
    run(plugin, tmp_path / "out")
    files = {**plugin["files"], "jaxlib_cpu/more.py": str(inputs / "LICENSE")}
    files.pop("jaxlib_cpu/__init__.py")
    assert recheck({**plugin, "files": files}).endswith(": jaxlib_cpu/__init__.py, jaxlib_cpu/more.py")
    wheel = tmp_path / "out" / PLUGIN_WHEEL
    other = wheel.rename(wheel.with_name(PLUGIN_WHEEL.replace("1.2.3", "1.2.4")))
    assert f"{other.name} in the place of {PLUGIN_WHEEL}" in recheck(plugin)
    other.unlink()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("jaxlib_cpu/__init__.py", b"")
    assert "RECORD" in recheck(plugin)
