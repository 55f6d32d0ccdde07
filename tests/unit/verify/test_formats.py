# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries of macOS and Windows: what is read from them, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import PLATFORMS, BinaryFormat
from pjrtwheel.verify import macho, pe
from pjrtwheel.verify.contents import read_contents
from pjrtwheel.verify.formats import check_libraries, find_format, read_libraries, read_library
from pjrtwheel.verify.library import Library

MakeLibrary = Callable[..., bytes]
MakeWheel = Callable[..., Path]
Check = Callable[..., list[str]]

MACOS = "demo-1.0-cp312-cp312-macosx_11_0_arm64.whl"
WINDOWS = "demo-1.0-cp312-cp312-win_amd64.whl"
SYSTEM = "/usr/lib/libSystem.B.dylib"


def read(folder: Path, data: bytes, member: str = "demo/lib") -> Library:
    """Read a library from its bytes."""
    (folder / "0001.so").write_bytes(data)
    return read_library(folder / "0001.so", member)


@pytest.fixture
def check(make_wheel: MakeWheel, tmp_path: Path) -> Check:
    """Return a function: name of a wheel, its libraries → the findings about them."""

    def run(name: str, libraries: Mapping[str, bytes]) -> list[str]:
        wheel = make_wheel(libraries, name=name)
        contents = read_contents(wheel, tmp_path)
        found, broken = read_libraries(contents.libraries, read_library)
        return [str(finding) for finding in [*broken, *check_libraries(contents, found, contents.name.platform)]]

    return run


def test_a_library_of_macos_is_read(make_macho: MakeLibrary, tmp_path: Path) -> None:
    """Names lose the underscore that C's have in front, and its own install name is none that it needs."""
    assert read(tmp_path, make_macho(needed=(SYSTEM, "@rpath/libb.dylib"), exports=("PyInit_demo", "b"))) == Library(
        "demo/lib",
        "arm64",
        BinaryFormat.MACH_O,
        soname="@rpath/libdemo.dylib",
        needed=(SYSTEM, "@rpath/libb.dylib"),
        search_kind="RPATH",
        search_paths=("@loader_path/",),
        exports=("PyInit_demo", "b"),
        floors={"macOS": "11.0"},
        signature="ad hoc",
    )


def test_all_architectures_of_a_fat_library_count(
    make_macho: MakeLibrary, make_fat: MakeLibrary, tmp_path: Path
) -> None:
    """It needs the newest macOS that any of them needs."""
    images = {"x86_64": make_macho(cpu="x86_64", system=(10, 14)), "arm64": make_macho(system=(11, 3))}
    library = read(tmp_path, make_fat(images))
    assert (library.machine, library.floors, library.signature) == ("x86_64+arm64", {"macOS": "11.3"}, "ad hoc")


def test_a_library_of_windows_is_read(make_pe: MakeLibrary, tmp_path: Path) -> None:
    """It has no search path: Windows looks in the folder of the one that needs it."""
    assert read(tmp_path, make_pe(needed=("KERNEL32.dll", "python312.dll"), exports=("PyInit_a", "b"))) == Library(
        "demo/lib",
        "AMD64",
        BinaryFormat.PE,
        soname="demo.pyd",
        needed=("KERNEL32.dll", "python312.dll"),
        exports=("PyInit_a", "b"),
        floors={"Windows": "6.0"},
        sections=((".rdata", 512),),
    )


@pytest.mark.parametrize("place", [0x18, 0x200])
def test_a_changed_byte_breaks_the_signature(make_macho: MakeLibrary, tmp_path: Path, place: int) -> None:
    """That is why no library of macOS is repaired."""
    data = bytearray(make_macho(needed=(SYSTEM,) * 8))
    data[place] ^= 1
    library = read(tmp_path, bytes(data))
    assert (library.signature, library.signature_problem) == (
        "damaged",
        "the page at 0x0 is not the one that was signed",
    )


def test_a_signature_beyond_the_end_is_refused(make_macho: MakeLibrary, tmp_path: Path) -> None:
    """As in a file whose download was cut short."""
    assert read(tmp_path, make_macho()[:-8]).signature_problem == "it ends beyond the file"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, None),
        ({"cpu": "x86_64"}, "is for x86_64, expected arm64 [mach-o]"),
        ({"signed": False}, "is not signed, so that macOS on Apple's processors refuses it [mach-o]"),
        ({"system": None}, "does not say which macOS it needs [mach-o]"),
        ({"system": (12, 3)}, "claims platform 'macosx_11_0_arm64', and needs macOS 12.3 [macos]"),
        (
            {"search_paths": ("/opt/homebrew/lib",)},
            "has RPATH element '/opt/homebrew/lib', expected one below @loader_path [mach-o]",
        ),
        (
            {"needed": ("/usr/local/lib/liba.dylib",)},
            "needs /usr/local/lib/liba.dylib, which neither it nor every macOS",
        ),
        ({"needed": ("@rpath/liba.dylib",)}, "needs @rpath/liba.dylib, which neither it nor every macOS has [macos]"),
        ({"needed": ("@rpath/libb.dylib",)}, None),
        ({"needed": ("@loader_path/../demo/libb.dylib",)}, None),
    ],
)
def test_a_fault_of_a_library_of_macos_is_named(
    make_macho: MakeLibrary, check: Check, options: dict[str, object], problem: str | None
) -> None:
    """Each by itself gives one finding, with the offending value."""
    found = check(MACOS, {"demo/_demo.so": make_macho(**options), "demo/libb.dylib": make_macho()})
    assert len(found) == (problem is not None)
    assert all(line.startswith(f"demo/_demo.so: {problem}") for line in found)


def test_a_fat_library_is_refused(make_macho: MakeLibrary, make_fat: MakeLibrary, check: Check) -> None:
    """The tag names one processor, and nobody who installs the wheel has the other."""
    fat = make_fat({"x86_64": make_macho(cpu="x86_64"), "arm64": make_macho()})
    assert check(MACOS, {"demo/_demo.so": fat}) == ["demo/_demo.so: is for x86_64+arm64, expected arm64 [mach-o]"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"needed": ("KERNEL32.dll", "python312.dll", "VCRUNTIME140.dll", "MSVCP140.dll", "other.dll")}, None),
        ({"machine": 0xAA64}, "demo/_demo.pyd: is for ARM64, expected AMD64 [pe]"),
        (
            {"needed": ("python313.dll",)},
            "demo/_demo.pyd: needs python313.dll, the file name says cp312 [delvewheel]",
        ),
        (
            {"needed": ("cublas64_12.dll",)},
            "needs cublas64_12.dll, which neither it, Windows nor Python has [delvewheel]",
        ),
    ],
)
def test_a_fault_of_a_library_of_windows_is_named(
    make_pe: MakeLibrary, check: Check, options: dict[str, object], problem: str | None
) -> None:
    """Windows and Python bring some DLLs, and Microsoft's redistributable the C++ runtime."""
    found = check(WINDOWS, {"demo/_demo.pyd": make_pe(**options), "demo/other.dll": make_pe()})
    assert found == ([problem] if problem else [])


@pytest.mark.parametrize("name", [MACOS, WINDOWS, "demo-1.0-cp312-cp312-manylinux_2_27_x86_64.whl"])
def test_a_library_of_another_system_is_named(
    make_elf: MakeLibrary, make_macho: MakeLibrary, make_pe: MakeLibrary, check: Check, name: str
) -> None:
    """Whatever its name ends with: the content decides about the format."""
    kinds = {"Mach-O for arm64": make_macho(), "PE for AMD64": make_pe(), "ELF for EM_X86_64": make_elf()}
    found = check(name, {f"demo/{number}.so": data for number, data in enumerate(kinds.values())})
    (platform,) = (entry for entry in PLATFORMS.values() if entry.has_tag(name.removesuffix(".whl").split("-")[-1]))
    foreign = [line for line in found if f", expected {platform.binary_format} [" in line]
    assert [line.split(": is a ")[1].split(", ")[0] for line in foreign] == [
        kind.replace(" for", " file for") for kind in kinds if not kind.startswith(platform.binary_format)
    ]


@pytest.mark.parametrize("platform", ["macosx_11_0_x86_64", "win_arm64", "any"])
def test_a_platform_that_we_have_no_wheels_for_is_named(make_macho: MakeLibrary, check: Check, platform: str) -> None:
    """Nothing is expected of its libraries then."""
    expected = "the platform tag is that of no system and processor we have wheels for [architecture]"
    assert check(f"demo-1.0-cp312-cp312-{platform}.whl", {"demo/a.so": make_macho()}) == [expected]
    assert check(f"demo-1.0-cp312-cp312-{platform}.whl", {}) == []


@pytest.mark.parametrize(("member", "kind"), [("a.dylib", "whole Mach-O"), ("a.pyd", "PE"), ("a.dll", "PE")])
def test_a_text_is_no_library(check: Check, member: str, kind: str) -> None:
    """The name says what it should be, and the finding which file of the wheel it is."""
    (finding, *_) = check(MACOS, {f"demo/{member}": b"INPUT(libfoo.so)"})
    assert finding == f"demo/{member}: demo/{member} is not a {kind} file [library]"


@pytest.mark.parametrize("kind", ["macho", "pe"])
def test_damage_never_surprises(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    """Whatever bytes are damaged, the library is read, or refused by the name of the member."""
    whole: bytes = request.getfixturevalue(f"make_{kind}")()
    module = {"macho": macho, "pe": pe}[kind]

    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(changes=st.lists(st.tuples(st.integers(4, 4095), st.integers(0, 255)), min_size=1, max_size=8))
    def damage(changes: list[tuple[int, int]]) -> None:
        data = bytearray(whole)
        for place, value in changes:
            data[max(4, place % len(data))] = value
        (tmp_path / "a").write_bytes(data)
        try:
            library = module.read_library(tmp_path / "a", "a/a.so")
        except WheelError as error:
            assert str(error).startswith("a/a.so is ")  # noqa: PT017 - refusing is one of two outcomes
        else:
            json.dumps([library.member, *library.needed, *library.exports]).encode()
            assert library.member == "a/a.so"

    damage()


def test_content_decides_about_the_format(make_elf: MakeLibrary, make_pe: MakeLibrary, tmp_path: Path) -> None:
    """The ending of a name does only where the content is of no format."""
    for data, member, expected in (
        (make_elf(), "a.dll", BinaryFormat.ELF),
        (make_pe(), "a.so", BinaryFormat.PE),
        (b"", "a.dylib", BinaryFormat.MACH_O),
        (b"", "a.so.1", BinaryFormat.ELF),
    ):
        (tmp_path / "a").write_bytes(data)
        assert find_format(tmp_path / "a", member) is expected


def test_declared_libraries_and_search_paths_are_right(make_macho: MakeLibrary, tmp_path: Path) -> None:
    """What a backend file names may stay, and nothing like it."""
    library = replace(read(tmp_path, make_macho()), search_paths=("/opt/a/lib", "/opt/a"))
    assert list(macho.check_library(library, "arm64", ("/opt/a/lib",))) == [
        ("demo/lib", "has RPATH element '/opt/a', expected one below @loader_path")
    ]
