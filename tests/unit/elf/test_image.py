# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from a library, and what is refused."""

import io
from contextlib import nullcontext

import pytest

from pjrtwheel.elf.image import read_image
from pjrtwheel.elf.repair import check_exports, plan_repair
from pjrtwheel.errors import ElfError
from small_libraries import build_elf

WHERE = "demo/lib.so in demo-1.0-py3-none-any.whl"


def test_facts_of_a_library() -> None:
    """Exports, machine and string uses are read from the dynamic tables."""
    data = build_elf(exports=("GetPjrtApi", "Other"), needed=("libm.so.6",))
    image = read_image(io.BytesIO(data), WHERE)
    assert (image.machine, image.exports, image.size) == ("EM_X86_64", ("GetPjrtApi", "Other"), len(data))
    assert image.names[:4] == ("", ".dynsym", ".dynstr", ".dynamic")
    assert image.used_strings == frozenset({0, 1, 12, 18})


def test_library_without_section_headers() -> None:
    """Without section headers the dynamic segment still says what the loader sees."""
    image = read_image(io.BytesIO(build_elf(sections=False)), WHERE)
    assert (image.sections, image.used_strings) == ((), None)
    assert plan_repair(image).changes == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not an ELF file"),
        (b"!<arch>\n" + bytes(80), "is not an ELF file"),
        (b"\x7fELF\x02\x01\x01", "is truncated: 7 bytes, its headers need 64"),
        (b"\x7fELF\x01\x01\x01" + bytes(80), "is not a 64-bit little-endian ELF file"),
        (b"\x7fELF\x02\x02\x01" + bytes(80), "is not a 64-bit little-endian ELF file"),
    ],
    ids=["empty", "archive", "seven bytes", "32-bit", "big-endian"],
)
def test_files_that_are_no_library(data: bytes, message: str) -> None:
    """A file that is none of our libraries is refused by name, with what it is instead."""
    with pytest.raises(ElfError) as caught:
        read_image(io.BytesIO(data), WHERE)
    assert caught.value.what == f"{WHERE} {message}"


def test_every_truncation_is_refused() -> None:
    """Wherever a download was cut short, the library is refused: its section headers stand at the end."""
    data = build_elf()
    for length in range(64, len(data)):
        with pytest.raises(ElfError, match="truncated"):
            read_image(io.BytesIO(data[:length]), WHERE)


@pytest.mark.parametrize(
    ("exports", "problem"),
    [
        (("GetPjrtApi", "Compile", "__start_pb_defaults", "__stop_pb_defaults"), ""),
        (("main", "other"), "exports no GetPjrtApi, Compile"),
        (("GetPjrtApi",), "exports no Compile"),
        (("GetPjrtApi", "Compile", "png_read", "inflate"), "exports symbols beyond its allow-list: inflate, png_read"),
    ],
    ids=["symbols of the linker", "no plugin", "a part is missing", "beyond the list"],
)
def test_a_plugin_exports_what_its_backend_says(exports: tuple[str, ...], problem: str) -> None:
    """Every XLA that was built with protobuf has the linker's symbols, so no backend lists them."""
    image = read_image(io.BytesIO(build_elf(exports=exports)), WHERE)
    with pytest.raises(ElfError) if problem else nullcontext() as caught:
        check_exports(image, ("GetPjrtApi", "Compile"))
    assert (caught.value.what if caught else "") == (f"{WHERE} {problem}" if problem else "")
