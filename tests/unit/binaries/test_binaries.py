# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from libraries of Linux, macOS and Windows, whole and damaged."""

import math
from pathlib import Path

import pytest

from pjrtwheel.binaries import Library, find_format, read_library
from pjrtwheel.errors import ElfError, WheelError
from pjrtwheel.platforms import BinaryFormat, host_platform
from small_libraries import build_elf, build_fat, build_macho, build_pe

SYSTEM = "/usr/lib/libSystem.B.dylib"


def read(folder: Path, data: bytes, member: str = "demo/lib") -> Library:
    """Read a library from its bytes."""
    (folder / "0001.so").write_bytes(data)
    return read_library(folder / "0001.so", member)


@pytest.mark.skipif(not hasattr(math, "__file__"), reason="this Python has math built in")
def test_a_real_extension_is_read() -> None:
    """Python's own extension module exports its initializer and has an ordinary stack."""
    library = read_library(Path(math.__file__), "math.so")
    assert "libc.so.6" in library.needed
    assert (library.machine, library.exports) == (host_platform().machine, ("PyInit_math",))
    assert not library.executable_stack
    assert library.alignment >= 0x1000


@pytest.mark.parametrize("sections", [True, False])
def test_what_the_loader_sees_is_read(tmp_path: Path, *, sections: bool) -> None:
    """With section headers and without: the loader does not need them."""
    library = read(tmp_path, build_elf(runpath="$ORIGIN:$ORIGIN/b", rpath="/c", stack_flags=7, sections=sections))
    assert (library.machine, library.exports, library.needed) == ("EM_X86_64", ("GetPjrtApi",), ("libc.so.6",))
    assert (library.search_kind, library.search_paths) == ("RPATH+RUNPATH", ("/c", "$ORIGIN", "$ORIGIN/b"))
    assert (library.executable_stack, library.alignment, library.is_plugin) == (True, 0x1000, True)


def test_a_library_of_macos_is_read(tmp_path: Path) -> None:
    """Names lose the underscore that C's have in front, and its own install name is none that it needs."""
    assert read(tmp_path, build_macho(needed=(SYSTEM, "@rpath/libb.dylib"), exports=("PyInit_demo", "b"))) == Library(
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
        size=460,
    )


def test_all_architectures_of_a_fat_library_count(tmp_path: Path) -> None:
    """It needs the newest macOS that any of them needs."""
    images = {"x86_64": build_macho(cpu="x86_64", system=(10, 14)), "arm64": build_macho(system=(11, 3))}
    library = read(tmp_path, build_fat(images))
    assert (library.machine, library.floors, library.signature) == ("x86_64+arm64", {"macOS": "11.3"}, "ad hoc")


def test_a_library_of_windows_is_read(tmp_path: Path) -> None:
    """It has no search path: Windows looks in the folder of the one that needs it."""
    assert read(tmp_path, build_pe(needed=("KERNEL32.dll", "python312.dll"), exports=("PyInit_a", "b"))) == Library(
        "demo/lib",
        "AMD64",
        BinaryFormat.PE,
        soname="demo.pyd",
        needed=("KERNEL32.dll", "python312.dll"),
        exports=("PyInit_a", "b"),
        floors={"Windows": "6.0"},
        size=1536,
    )


@pytest.mark.parametrize("member", ["a.dylib", "a.pyd", "a.dll", "a.so"])
def test_a_text_is_no_library(tmp_path: Path, member: str) -> None:
    """The error names the member of the wheel, not the temporary file."""
    with pytest.raises((ElfError, WheelError), match=f"^demo/{member} is not "):
        read(tmp_path, b"INPUT(libfoo.so)", f"demo/{member}")


def test_content_decides_about_the_format(tmp_path: Path) -> None:
    """The ending of a name does only where the content is of no format."""
    for data, member, expected in (
        (build_elf(), "a.dll", BinaryFormat.ELF),
        (build_pe(), "a.so", BinaryFormat.PE),
        (b"", "a.dylib", BinaryFormat.MACH_O),
        (b"", "a.so.1", BinaryFormat.ELF),
    ):
        (tmp_path / "a").write_bytes(data)
        assert find_format(tmp_path / "a", member) is expected
