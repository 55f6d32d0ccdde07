# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From manifest or wheel to finished wheel, by way of the command line's own functions."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.cli import main
from pjrtwheel.errors import ElfError, WheelError
from pjrtwheel.wheel.assemble import assemble, repair_wheel
from pjrtwheel.wheel.compress import Compression
from pjrtwheel.wheel.plan import parse_manifest
from pjrtwheel.wheel.recompute import check_against_inputs, identify_check
from pjrtwheel.wheel.record import parse_record

MakeElf = Callable[..., bytes]
MakeWheel = Callable[..., Path]
Manifest = dict[str, Any]

RELEASE = """
schema = 2
release = "1.2.3"
build = 3

[[pin]]
key = "plugin.cpu.linux_x86_64"
project = "abacus"
version = "1"
filename = "abacus-1-py3-none-any.whl"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
size = 1
"""
LIBRARY = "jaxlib_cpu/pjrt_c_api_cpu_plugin.so"
PLUGIN_WHEEL = "jaxlib_cpu-1.2.3-cp312.cp314.cp315-abi3.abi3t.cp314t-manylinux_2_27_x86_64.whl"
UPSTREAM = "jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl"
BINDINGS_WHEEL = "jaxlib-1.2.3-3-cp312-cp312-manylinux_2_27_x86_64.whl"


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Return a directory whose name is hard to quote, with a release file in it."""
    directory = tmp_path / "in puts é"
    directory.mkdir()
    (directory / "release.toml").write_text(RELEASE)
    return directory


@pytest.fixture
def plugin(root: Path, inputs: Path, make_elf: MakeElf) -> Manifest:
    """Return the manifest of a plugin wheel, with all its inputs on disk."""
    for name, data in {
        "plugin.so": make_elf(),
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
        "release": str(inputs / "release.toml"),
        "backend": str(root / "plugins" / "cpu" / "backend.toml"),
        "provider": "prebuilt",
        "readme": str(inputs / "README.md"),
        "provenance": str(inputs / "provenance.json"),
        "files": {LIBRARY: str(inputs / "plugin.so"), "jaxlib_cpu/__init__.py": str(inputs / "__init__.py")},
        "licenses": {"LICENSE": str(inputs / "LICENSE")},
    }


@pytest.fixture
def bindings(root: Path, inputs: Path, make_elf: MakeElf, make_wheel: MakeWheel) -> Manifest:
    """Return the manifest of a bindings wheel, with all its inputs on disk."""
    upstream = make_wheel(
        {"jaxlib/__init__.py": b"x = 1\n", "jaxlib/_jax.so": make_elf(exports=("any",))}, name=UPSTREAM
    )
    return {
        "schema": 1,
        "kind": "bindings",
        "platform": "linux_x86_64",
        "release": str(inputs / "release.toml"),
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


def test_report(plugin: Manifest, tmp_path: Path) -> None:
    """The report states what was written and changed, with the digests of the finished files."""
    report = run(plugin, tmp_path / "out")
    wheel = (tmp_path / "out" / PLUGIN_WHEEL).read_bytes()
    facts = {key: report[key] for key in ("wheel", "distribution", "version", "tag", "sha256", "size", "requires")}
    assert facts == {
        "wheel": PLUGIN_WHEEL,
        "distribution": "jaxlib-cpu",
        "version": "1.2.3",
        "tag": "cp312.cp314.cp315-abi3.abi3t.cp314t-manylinux_2_27_x86_64",
        "sha256": hashlib.sha256(wheel).hexdigest(),
        "size": len(wheel),
        "requires": ["jaxlib==1.2.3"],
    }
    assert report["changes"] == {LIBRARY: ["dropped .comment, .symtab, .strtab (744 bytes)"]}
    assert (report["findings"], report["stripped_bytes"], report["provider"]) == ({}, 744, "prebuilt")
    assert report["members"]["jaxlib_cpu/__init__.py"] == {"size": 0, "sha256": hashlib.sha256(b"").hexdigest()}


def test_same_inputs_give_the_same_bytes(plugin: Manifest, tmp_path: Path) -> None:
    """Two runs into two directories give one wheel."""
    digests = {run(plugin, tmp_path / name)["sha256"] for name in ("one", "two")}
    assert len(digests) == 1


def test_a_higher_level_gives_a_smaller_wheel_of_the_same_members(plugin: Manifest, tmp_path: Path) -> None:
    """Compression is all that differs."""
    plugin["files"]["jaxlib_cpu/text.py"] = str(Path(__file__))
    spec = parse_manifest(json.dumps(plugin))
    fast, small = (assemble(spec, tmp_path / str(level), Compression(level)) for level in (1, 12))
    assert small.size < fast.size
    assert small.members == fast.members


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


@pytest.mark.parametrize(
    ("platform", "tag", "member", "factory"),
    [
        ("macos_arm64", "macosx_11_0_arm64", "jaxlib/libjax.dylib", "make_macho"),
        ("windows_x86_64", "win_amd64", "jaxlib/jax.dll", "make_pe"),
    ],
)
def test_libraries_of_other_systems_stay_as_they_are(
    bindings: Manifest,
    make_wheel: MakeWheel,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    platform: str,
    tag: str,
    member: str,
    factory: str,
) -> None:
    """A signature holds for the very bytes; lock, METADATA and bill of materials are those of the set."""
    library = request.getfixturevalue(factory)()
    upstream = make_wheel({member: library}, name=f"jaxlib-1.2.3-cp312-cp312-{tag}.whl")
    report = run(bindings | {"platform": platform, "wheel": str(upstream)}, tmp_path / "out")
    members = contents(tmp_path / "out" / f"jaxlib-1.2.3-3-cp312-cp312-{tag}.whl")
    assert members[member] == library
    assert (report["changes"], report["findings"], report["stripped_bytes"]) == ({}, {}, 0)
    linux = run(bindings, tmp_path / "linux")
    assert (report["requires"], report["lock_id"]) == (linux["requires"], linux["lock_id"])


def test_upstream_for_another_platform(bindings: Manifest, make_wheel: MakeWheel, tmp_path: Path) -> None:
    """An Intel Mac is none of ours, and its wheel is not taken for one of Linux."""
    other = make_wheel({}, name="jaxlib-1.2.3-cp312-cp312-macosx_10_14_x86_64.whl")
    with pytest.raises(WheelError) as caught:
        assemble(parse_manifest(json.dumps(bindings | {"wheel": str(other)})), tmp_path / "out")
    assert caught.value.what == f"{other.name} is not for linux_x86_64"


def test_a_wheel_of_another_system_is_not_repaired(make_macho: MakeElf, make_wheel: MakeWheel, tmp_path: Path) -> None:
    """The message names the programs that do it on the systems themselves."""
    wheel = make_wheel({"demo/_a.so": make_macho()}, name="demo-1.0-cp312-cp312-macosx_11_0_arm64.whl")
    with pytest.raises(WheelError) as caught:
        repair_wheel(wheel, tmp_path / "out")
    assert str(caught.value).splitlines() == [
        f"{wheel.name} cannot be repaired",
        "its libraries are Mach-O files, and only ELF files are repaired",
        "delocate repairs wheels on macOS, delvewheel those for Windows",
    ]


def test_both_kinds_share_the_lock(plugin: Manifest, bindings: Manifest, tmp_path: Path) -> None:
    """Wheels of one release and provider carry the same lock document; another provider gives another."""
    locks = [run(manifest, tmp_path / "out")["lock_id"] for manifest in (plugin, bindings)]
    other = run(plugin | {"provider": "source"}, tmp_path / "out")["lock_id"]
    assert locks[0] == locks[1] != other


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"files": {}}, f"the manifest has no {LIBRARY!r}"),
        ({"readme": "/no/such/file"}, "no such file: /no/such/file"),
        ({"provenance": "README"}, "no provenance: "),
        ({"files": "lock"}, "the manifest gives jaxlib_cpu/release_lock.json, which assembly writes itself"),
    ],
    ids=["no library", "no readme", "no provenance", "generated file"],
)
def test_wrong_manifests(plugin: Manifest, tmp_path: Path, changes: Manifest, message: str) -> None:
    """A manifest that does not fit stops before anything is written."""
    files = dict(plugin["files"])
    if changes.get("files") == "lock":
        changes = {"files": files | {"jaxlib_cpu/release_lock.json": files[LIBRARY]}}
    if "provenance" in changes:
        changes = {"provenance": plugin["readme"]}
    with pytest.raises(WheelError) as caught:
        assemble(parse_manifest(json.dumps(plugin | changes)), tmp_path / "out")
    assert caught.value.what.startswith(message)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("library", "message"),
    [
        (b"no library", f"{LIBRARY} in {PLUGIN_WHEEL} is not an ELF file"),
        ({"machine": 183}, f"{LIBRARY} in {PLUGIN_WHEEL} is made for EM_AARCH64, expected EM_X86_64"),
        ({"exports": ("main",)}, f"{LIBRARY} in {PLUGIN_WHEEL} exports no GetPjrtApi"),
    ],
    ids=["not an ELF file", "foreign machine", "no plugin"],
)
def test_wrong_libraries(
    plugin: Manifest, inputs: Path, tmp_path: Path, make_elf: MakeElf, library: bytes | Manifest, message: str
) -> None:
    """A library that is no plugin for the platform is refused by wheel and member, and nothing is written."""
    (inputs / "plugin.so").write_bytes(library if isinstance(library, bytes) else make_elf(**library))
    with pytest.raises(ElfError) as caught:
        assemble(parse_manifest(json.dumps(plugin)), tmp_path / "out")
    assert caught.value.what == message
    assert list((tmp_path / "out").iterdir()) == []


def test_upstream_of_another_release(bindings: Manifest, make_wheel: MakeWheel, tmp_path: Path) -> None:
    """Upstream's wheel must be the release's."""
    other = make_wheel({}, name="jaxlib-1.2.2-cp312-cp312-manylinux_2_27_x86_64.whl")
    with pytest.raises(WheelError) as caught:
        assemble(parse_manifest(json.dumps(bindings | {"wheel": str(other)})), tmp_path / "out")
    assert caught.value.what == f"{other.name} is not for release 1.2.3 and cp312"


def test_upstream_that_is_not_the_pinned_file(bindings: Manifest, inputs: Path, tmp_path: Path) -> None:
    """A file of the pinned name with other bytes is refused with both digests."""
    pin = {
        "key": "bindings.cp312.linux_x86_64",
        "project": "jaxlib",
        "version": "1.2.3",
        "filename": UPSTREAM,
        "sha256": "0" * 64,
    }
    table = "".join(f'{key} = "{value}"\n' for key, value in pin.items())
    release = RELEASE + f"[[pin]]\n{table}size = 1\n"
    (inputs / "release.toml").write_text(release)
    digest = hashlib.sha256(Path(bindings["wheel"]).read_bytes()).hexdigest()
    with pytest.raises(WheelError) as caught:
        assemble(parse_manifest(json.dumps(bindings)), tmp_path / "out")
    assert caught.value.what == f"{UPSTREAM} has sha256 {digest}, pinned is {'0' * 64}"


def test_repair_of_a_finished_wheel(make_wheel: MakeWheel, make_elf: MakeElf, tmp_path: Path) -> None:
    """Repair keeps name and metadata, repairs the libraries, and lists the new bytes in RECORD."""
    wheel = make_wheel({"demo/lib.so": make_elf(stack_flags=7), "demo/data.txt": b"data"})
    before = contents(wheel)
    report = repair_wheel(wheel, tmp_path / "out")
    after = contents(tmp_path / "out" / wheel.name)
    assert report.changes == {
        "demo/lib.so": ("dropped .comment, .symtab, .strtab (744 bytes)", "cleared the executable-stack flag")
    }
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"demo/lib.so", "demo-1.0.dist-info/RECORD"}


def test_repair_of_a_repaired_wheel(make_wheel: MakeWheel, make_elf: MakeElf, tmp_path: Path) -> None:
    """Repair has nothing to do a second time, and says so with the same bytes."""
    first = repair_wheel(make_wheel({"demo/lib.so": make_elf()}), tmp_path / "one")
    second = repair_wheel(tmp_path / "one" / first.wheel, tmp_path / "two")
    assert (second.changes, second.sha256) == ({}, first.sha256)


def test_repair_reads_the_lock(plugin: Manifest, tmp_path: Path) -> None:
    """The report of a repaired wheel names the set it belongs to."""
    lock_id = run(plugin, tmp_path / "out")["lock_id"]
    report = repair_wheel(tmp_path / "out" / PLUGIN_WHEEL, tmp_path / "repaired")
    assert (report.lock_id, report.provider) == (lock_id, "prebuilt")


@pytest.mark.parametrize(
    ("lock", "what"),
    [
        (b"[]", "expected an object, found []"),
        (
            b'{"release": "1", "build": 1, "provider": "p", "lock_id": 1}',
            "lock_id: expected a string, found 1",
        ),
        (b"{", "not JSON: "),
    ],
    ids=["no object", "no text", "no JSON"],
)
def test_repair_of_a_wheel_with_a_false_lock(make_wheel: MakeWheel, tmp_path: Path, lock: bytes, what: str) -> None:
    """A lock that cannot be read is refused by name; data that only bears the name of one is no lock."""
    wheel = make_wheel({"demo/release_lock.json": lock, "demo/data/release_lock.json": b"[]"})
    with pytest.raises(WheelError) as caught:
        repair_wheel(wheel, tmp_path / "out")
    assert caught.value.what.startswith(f"demo/release_lock.json is no release lock: {what}")


def test_repair_does_not_overwrite(make_wheel: MakeWheel) -> None:
    """The copy never takes the place of the wheel."""
    wheel = make_wheel({})
    with pytest.raises(WheelError, match="would be overwritten"):
        repair_wheel(wheel, wheel.parent)


def test_repair_by_the_command_line(
    make_wheel: MakeWheel, make_elf: MakeElf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says what it changed, by member."""
    wheel = make_wheel({"demo/lib.so": make_elf()})
    assert main(["repair", str(wheel), "--output", str(tmp_path / "out")]) == 0
    size = (tmp_path / "out" / wheel.name).stat().st_size
    assert capsys.readouterr().out == (
        f"{wheel.name} ({size} bytes)\n  demo/lib.so: dropped .comment, .symtab, .strtab (744 bytes)\n"
    )


def test_library_in_a_wheel_for_another_machine(make_wheel: MakeWheel, make_elf: MakeElf, tmp_path: Path) -> None:
    """A wheel's tag promises a machine, and a library for another is refused by wheel and member."""
    wheel = make_wheel({"demo/lib.so": make_elf(machine=183)}, name="demo-1.0-py3-none-manylinux_2_17_x86_64.whl")
    with pytest.raises(ElfError) as caught:
        repair_wheel(wheel, tmp_path / "out")
    assert caught.value.what == f"demo/lib.so in {wheel.name} is made for EM_AARCH64, expected EM_X86_64"
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("kind", ["plugin", "bindings"])
def test_a_wheel_is_held_to_its_inputs(request: pytest.FixtureRequest, kind: str, inputs: Path, tmp_path: Path) -> None:
    """What assembly wrote passes, libraries repaired or not, and every change of an input is noticed."""
    manifest: Manifest = request.getfixturevalue(kind)
    run(manifest, tmp_path / "out")
    (wheel,) = (tmp_path / "out").glob("*.whl")
    (inputs / "manifest.json").write_text(json.dumps(manifest))
    check_against_inputs(wheel, inputs / "manifest.json")
    (inputs / "release.toml").write_text(RELEASE.replace("build = 3", 'build = 3\ncommits = { jax = "ab" }'))
    with pytest.raises(WheelError) as caught:
        check_against_inputs(wheel, inputs / "manifest.json")
    assert (
        caught.value.what
        == f"{wheel.name} is not what its inputs make: {wheel.name.partition('-')[0]}/release_lock.json"
    )


@pytest.mark.parametrize("kind", ["plugin", "bindings"])
def test_a_check_is_done_again_for_other_bytes(
    request: pytest.FixtureRequest, kind: str, inputs: Path, tmp_path: Path
) -> None:
    """Of the wheel, of the manifest, or of any file that the manifest names; not for the same."""
    manifest: Manifest = request.getfixturevalue(kind)
    run(manifest, tmp_path / "out")
    (wheel,) = (tmp_path / "out").glob("*.whl")
    place = inputs / "manifest.json"
    place.write_text(json.dumps(manifest))
    named = [manifest["wheel"]] if kind == "bindings" else [*manifest["files"].values(), *manifest["licenses"].values()]
    seen = [identify_check(wheel, place)]
    assert identify_check(wheel, place) == seen[0]
    for path in (wheel, *map(Path, [*named, manifest["release"]]), place):
        with path.open("ab") as file:
            file.write(b"\n")
        seen.append(identify_check(wheel, place))
    assert len(set(seen)) == len(seen) > 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("provenance", {"project": "p", "version": "1", "sha256": "ab", "xla_verified": True}),
        ("provider", "source"),
        ("lock_id", "0" * 64),
        ("changes", {}),
        ("findings", {"jaxlib_cpu/plugin.so": ["none"]}),
        ("sha256", "0" * 64),
        ("stripped_bytes", 744.0),
        ("more", 1),
    ],
)
def test_a_report_is_held_to_the_inputs(
    plugin: Manifest, inputs: Path, tmp_path: Path, key: str, value: object
) -> None:
    """What it says becomes part of release.json."""
    report = run(plugin, tmp_path / "out")
    (inputs / "manifest.json").write_text(json.dumps(plugin))
    seen = identify_check(tmp_path / "out" / PLUGIN_WHEEL, inputs / "manifest.json")
    (tmp_path / "out" / "report.json").write_text(json.dumps({**report, key: value}))
    assert identify_check(tmp_path / "out" / PLUGIN_WHEEL, inputs / "manifest.json") != seen
    with pytest.raises(WheelError) as caught:
        check_against_inputs(tmp_path / "out" / PLUGIN_WHEEL, inputs / "manifest.json")
    assert caught.value.what == f"the report of {PLUGIN_WHEEL} is not what its inputs make: {key}"


def rewrite(path: Path, change: Callable[[zipfile.ZipInfo], None], *, head: bytes = b"", comment: bytes = b"") -> None:
    """Write a wheel again with the same members, each of which may be described otherwise."""
    with zipfile.ZipFile(path) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    with path.open("wb") as file:
        file.write(head)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.comment = comment
            for info, data in members:
                change(info)
                archive.writestr(info, data)


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda info: setattr(info, "external_attr", 0o104777 << 16), {}),
        (lambda info: setattr(info, "date_time", (2031, 1, 1, 0, 0, 0)), {}),
        (lambda info: setattr(info, "compress_type", zipfile.ZIP_STORED), {}),
        (lambda info: setattr(info, "extra", b"\x99\x99\x01\x00x"), {}),
        (lambda info: setattr(info, "comment", b"x"), {}),
        (lambda _info: None, {"head": b"#!/bin/sh\n"}),
        (lambda _info: None, {"comment": b"x"}),
    ],
    ids=["mode", "date", "method", "extra field", "comment of a member", "in front", "comment"],
)
def test_all_but_the_compressed_data_is_held_to_the_inputs(
    plugin: Manifest, inputs: Path, tmp_path: Path, change: Callable[[zipfile.ZipInfo], None], options: dict[str, bytes]
) -> None:
    """Members with the right bytes are not yet the wheel that assembly writes."""
    run(plugin, tmp_path / "out")
    wheel = tmp_path / "out" / PLUGIN_WHEEL
    (inputs / "manifest.json").write_text(json.dumps(plugin))
    rewrite(wheel, change, **options)
    with pytest.raises(WheelError) as caught:
        check_against_inputs(wheel, inputs / "manifest.json")
    assert caught.value.what.startswith(f"{PLUGIN_WHEEL} is not what its inputs make: ")


def test_compression_is_held_to_the_report_alone(plugin: Manifest, inputs: Path, tmp_path: Path) -> None:
    """Another compressor gives the same members in other bytes, which is no other wheel."""
    run(plugin, tmp_path / "out")
    wheel = tmp_path / "out" / PLUGIN_WHEEL
    (inputs / "manifest.json").write_text(json.dumps(plugin))
    rewrite(wheel, lambda info: setattr(info, "create_version", 20))
    with pytest.raises(WheelError) as caught:
        check_against_inputs(wheel, inputs / "manifest.json")
    assert caught.value.what == f"the report of {PLUGIN_WHEEL} is not what its inputs make: sha256, size"


def test_members_that_come_or_go_are_named(plugin: Manifest, inputs: Path, tmp_path: Path) -> None:
    """A file more and a file less are both no longer what the inputs make."""
    run(plugin, tmp_path / "out")
    wheel = tmp_path / "out" / PLUGIN_WHEEL
    files = {**plugin["files"], "jaxlib_cpu/more.py": str(inputs / "LICENSE")}
    files.pop("jaxlib_cpu/__init__.py")
    (inputs / "manifest.json").write_text(json.dumps({**plugin, "files": files}))
    with pytest.raises(WheelError) as caught:
        check_against_inputs(wheel, inputs / "manifest.json")
    assert (
        caught.value.what == f"{PLUGIN_WHEEL} is not what its inputs make: jaxlib_cpu/__init__.py, jaxlib_cpu/more.py"
    )


def test_a_wheel_without_record_is_held_to_nothing(plugin: Manifest, inputs: Path, tmp_path: Path) -> None:
    """It is refused in the same words as other damage."""
    (inputs / "manifest.json").write_text(json.dumps(plugin))
    with zipfile.ZipFile(tmp_path / PLUGIN_WHEEL, "w") as archive:
        archive.writestr("jaxlib_cpu/__init__.py", b"")
    with pytest.raises(WheelError, match=r"cannot read jaxlib_cpu-1\.2\.3\.dist-info/RECORD"):
        check_against_inputs(tmp_path / PLUGIN_WHEEL, inputs / "manifest.json")


def test_a_wheel_in_the_place_of_another_is_refused(plugin: Manifest, inputs: Path, tmp_path: Path) -> None:
    """A cache may give one action the result of another."""
    run(plugin, tmp_path / "out")
    other = (tmp_path / "out" / PLUGIN_WHEEL).rename(tmp_path / "out" / PLUGIN_WHEEL.replace("1.2.3", "1.2.4"))
    (inputs / "manifest.json").write_text(json.dumps(plugin))
    with pytest.raises(WheelError) as caught:
        check_against_inputs(other, inputs / "manifest.json")
    assert caught.value.what == f"a build returned {other.name} in the place of {PLUGIN_WHEEL}"
