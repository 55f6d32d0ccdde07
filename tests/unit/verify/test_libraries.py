# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with libraries, by code of the finding, and what `verify` lets pass."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.binaries import Library
from pjrtwheel.platforms import PLATFORMS, BinaryFormat, find_platform
from pjrtwheel.verify.contents import read_contents, read_libraries
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.libraries import Allowed, check_floors, check_libraries, check_system, find_missing, is_tolerated
from small_libraries import build_elf, build_macho, build_pe

Check = Callable[..., list[tuple[str, str]]]

LINUX = find_platform("linux_x86_64")
NAME = "demo-1.0-py3-none-manylinux_2_27_x86_64.whl"
MACOS = "demo-1.0-cp312-cp312-macosx_11_0_arm64.whl"
WINDOWS = "demo-1.0-cp312-cp312-win_amd64.whl"
RIGHT = Library(
    "a/lib.so",
    "EM_X86_64",
    exports=("GetPjrtApi",),
    needed=("libc.so.6",),
    search_kind="RPATH",
    search_paths=("$ORIGIN/../b",),
    alignment=0x1000,
)


def codes(*libraries: Library, allowed: Allowed | None = None) -> list[tuple[str, str]]:
    """Return code and member of what is found."""
    return [(entry.code, entry.member) for entry in check_libraries(libraries, LINUX, allowed or Allowed())]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"machine": "EM_AARCH64", "alignment": 0x10000}, ["architecture"]),
        ({"search_paths": ("/usr/lib",)}, ["rpath-absolute"]),
        ({"search_paths": ("",)}, ["rpath-relative"]),
        ({"search_paths": ("$ORIGIN/../../b",)}, ["rpath-outside"]),
        ({"search_paths": ("$ORIGIN/../_solib_k8/b", "$ORIGIN/x.runfiles")}, ["rpath-build-tree"]),
        ({"search_paths": ("$ORIGIN", "$ORIGIN/")}, ["rpath-repeated"]),
        ({"executable_stack": True}, ["executable-stack"]),
        ({"alignment": 0x10}, ["alignment"]),
        ({"unneeded": (".symtab",), "unneeded_bytes": 9999}, ["symbols"]),
        ({"unneeded": (".comment",), "unneeded_bytes": 40}, []),
        ({"exports": ("GetPjrtApi", "leak")}, ["exports"]),
        ({"exports": ("GetPjrtApi", "__start_pb_defaults", "__stop_pb_defaults")}, []),
        ({"gpu_problem": "no tool"}, ["gpu-code"]),
    ],
)
def test_each_fault_has_its_code(changes: dict[str, object], expected: list[str]) -> None:
    """One fault gives one finding about the library."""
    assert codes(replace(RIGHT, **changes)) == [(code, "a/lib.so") for code in expected]  # type: ignore[arg-type]


def test_declared_search_paths_are_right() -> None:
    """What the backend file names may stay, and nothing like it; that of macOS begins with other words."""
    allowed = Allowed(search_paths=("/opt/rocm/lib", "$ORIGIN/../../.."))
    library = replace(RIGHT, search_paths=("$ORIGIN/../../..", "/opt/rocm/lib", "/opt/rocm"))
    (found,) = check_libraries([library], LINUX, allowed)
    assert (found.code, found.text) == ("rpath-absolute", "1 of 3 RPATH elements are absolute: /opt/rocm")
    macos = replace(RIGHT, binary_format=BinaryFormat.MACH_O, search_paths=("@loader_path/", "/opt/rocm/lib", "/opt/b"))
    texts = [entry.text for entry in check_libraries([macos], None, allowed) if entry.code == "rpath-absolute"]
    assert texts == ["1 of 3 RPATH elements are absolute: /opt/b"]


def test_exports_by_kind_of_library() -> None:
    """Plugins and stable-ABI modules are held to a list, a module of one CPython to its initializer as well."""
    allowed = Allowed({"abacus.so": ("GetPjrtApi", "Bead*")})
    libraries = {
        "abacus.so": ("GetPjrtApi", "Beads", "leak"),
        "other/abacus.so": ("Beads",),
        "_pjrt.abi3.so": ("PyInit__pjrt",),
        "_pjrt.abi3t.so": ("PyModExport__pjrt",),
        "_other.abi3t.so": ("PyInit__other",),
        "_sums.cpython-312-x86_64-linux-gnu.so": ("PyInit__sums", "__start_pb_defaults"),
        "_rods.cpython-312-x86_64-linux-gnu.so": ("PyInit__other",),
        "libcount.so": ("anything",),
        "linked.so": ("anything",),
        "user.so": (),
    }
    found = [
        replace(RIGHT, member=name, exports=exports, search_paths=(), needed=("linked.so",) * (name == "user.so"))
        for name, exports in libraries.items()
    ]
    assert codes(*found, allowed=allowed) == [
        ("exports", "abacus.so"),
        ("entry-point", "other/abacus.so"),
        ("entry-point", "_other.abi3t.so"),
        ("exports", "_other.abi3t.so"),
        ("entry-point", "_rods.cpython-312-x86_64-linux-gnu.so"),
        ("exports", "libcount.so"),
    ]
    refused = [
        (entry.code, entry.member)
        for entry in check_libraries(found, LINUX, allowed)
        if not is_tolerated(entry, {library.member: library for library in found}, allowed)
    ]
    assert set(codes(*found, allowed=allowed)) - set(refused) == {("exports", "libcount.so")}


@pytest.fixture
def check(make_wheel: Callable[..., Path], tmp_path: Path) -> Check:
    """Return a function: name of a wheel, its libraries → code and member of what `verify` refuses in them."""

    def run(name: str, libraries: Mapping[str, bytes]) -> list[tuple[str, str]]:
        contents = read_contents(make_wheel(libraries, name=name), tmp_path)
        found, broken = read_libraries(contents)
        platform, by_member = contents.name.platform, {library.member: library for library in found}
        assert platform
        findings: list[Finding] = [
            *broken,
            *check_libraries(found, platform, Allowed()),
            *check_floors(found, contents.platform_tags),
            *check_system(contents, found, platform, ()),
        ]
        return [(entry.code, entry.member) for entry in findings if not is_tolerated(entry, by_member, Allowed())]

    return run


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, None),
        ({"cpu": "x86_64"}, "architecture"),
        ({"cpu": "x86_64", "signed": False}, "architecture"),  # and Intel's need no signature
        ({"signed": False}, "signature"),
        ({"system": None}, "macos"),
        ({"system": (12, 3)}, "macos"),
        ({"search_paths": ("/opt/homebrew/lib",)}, "rpath-absolute"),
        ({"search_paths": ("@loader_path/../..", "@loader_path/../_solib_x", "@loader_path/../_solib_x")}, None),
        ({"search_paths": ("lib",)}, "rpath-relative"),
        ({"needed": ("/usr/local/lib/liba.dylib",)}, "macos"),
        ({"needed": ("@rpath/liba.dylib",)}, "macos"),
        ({"needed": ("@rpath/libb.dylib",)}, None),
        ({"needed": ("@loader_path/../demo/libb.dylib",)}, None),
    ],
)
def test_a_fault_of_a_library_of_macos_is_named(check: Check, options: dict[str, Any], code: str | None) -> None:
    """Each by itself gives one finding; what upstream signed may lead out, and Intel's need no signature."""
    found = check(MACOS, {"demo/_demo.so": build_macho(**options), "demo/libb.dylib": build_macho()})
    assert found == [(code, "demo/_demo.so")] * bool(code)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"needed": ("KERNEL32.dll", "python312.dll", "VCRUNTIME140.dll", "other.dll")}, []),
        ({"needed": ("MSVCP140.dll",)}, [("runtime", "demo/_demo.pyd")]),
        ({"machine": 0xAA64}, [("architecture", "demo/_demo.pyd")]),
        ({"needed": ("python313.dll",)}, [("delvewheel", "demo/_demo.pyd")]),
        ({"needed": ("cublas64_12.dll",)}, [("delvewheel", "")]),
    ],
)
def test_a_fault_of_a_library_of_windows_is_named(
    check: Check, options: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Windows and Python bring some DLLs, and Microsoft's redistributable the C++ runtime."""
    assert check(WINDOWS, {"demo/_demo.pyd": build_pe(**options), "demo/other.dll": build_pe()}) == expected


@pytest.mark.parametrize(
    ("name", "library", "missing"),
    [
        (NAME, build_elf(needed=["libc.so.6", "libstdc++.so.6", "libb.so", "libcublas.so.12"]), "libcublas.so.12"),
        (MACOS, build_macho(needed=("/usr/lib/libc++.1.dylib", "@loader_path/liba.dylib")), "@loader_path/liba.dylib"),
        (WINDOWS, build_pe(needed=("ntdll.dll", "python312.dll", "API-MS-WIN-x.dll", "nvml.dll")), "nvml.dll"),
    ],
)
def test_libraries_that_no_system_has_are_named(
    make_wheel: Callable[..., Path], tmp_path: Path, name: str, library: bytes, missing: str
) -> None:
    """What the wheel itself has is not missing."""
    contents = read_contents(make_wheel({"demo/a.so": library, "demo/libb.so": build_elf()}, name=name), tmp_path)
    assert list(find_missing(contents, read_libraries(contents)[0])) == [("demo/a.so", missing)]


def test_a_floor_is_named_once() -> None:
    """A year and a number may name one floor."""
    library = replace(RIGHT, floors={"GLIBC": "2.29"})
    tags = ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_31_x86_64"]
    assert [entry.code for entry in check_floors([library], tags)] == ["glibc"]


@pytest.mark.parametrize("name", ["macos_arm64", "windows_amd64", "linux_x86_64"])
def test_a_library_of_another_system_is_named(make_wheel: Callable[..., Path], tmp_path: Path, name: str) -> None:
    """Whatever its name ends with: the content decides about the format; a fat one is for too many."""
    kinds = {"Mach-O.so": build_macho(), "PE.so": build_pe(), "ELF.so": build_elf()}
    libraries, _ = read_libraries(read_contents(make_wheel(kinds), tmp_path))
    platform = PLATFORMS.get(name) or next(entry for entry in PLATFORMS.values() if entry.system == "windows")
    found = [entry.member for entry in check_libraries(libraries, platform, Allowed()) if entry.code == "architecture"]
    assert found == [kind for kind in kinds if kind != f"{platform.binary_format}.so"]
