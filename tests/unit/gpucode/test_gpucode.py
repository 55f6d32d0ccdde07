# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From libraries with a few bytes of GPU code to the names of chips."""

import hashlib
import struct
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from folders import write_program
from pjrtwheel.binaries import read_dll_section
from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode import GpuCode
from pjrtwheel.gpucode.reader import NVIDIA_PE_SECTION, read_dll_gpu_code, read_gpu_code
from small_libraries import build_elf, build_pe

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


HOST = ("host-x86_64-unknown-linux-gnu-", b"")
SPIRV = struct.pack("<II", 0x07230203, 0x10300)


def bundle(*parts: tuple[str, bytes], lie: int = 0) -> bytes:
    """Return a plain offload bundle; `lie` is added to the size that it states for its last part."""
    offset = 32 + sum(24 + len(name) for name, _ in parts)
    table, body = b"", b""
    for number, (name, data) in enumerate(parts, 1):
        size = len(data) + lie * (number == len(parts))
        table += struct.pack("<QQQ", offset + len(body), size, len(name)) + name.encode()
        body += data
    return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(parts)) + table + body


def compress(data: bytes, *, version: int = 3, method: int = 1, lie: int = 0) -> bytes:
    """Return a compressed offload bundle; `lie` is added to the length that it states for itself."""
    body = zstd.compress(data) if method == 1 else zlib.compress(data)
    layout = "<4sHHIIQ" if version == 2 else "<4sHHQQQ"
    size = struct.calcsize(layout) + len(body) + lie
    return struct.pack(layout, b"CCOB", version, method, size, len(data), 7) + body


def target(chip: str, code: bytes = bytes(200)) -> tuple[str, bytes]:
    """Return a part of a bundle."""
    return f"hipv4-amdgcn-amd-amdhsa--{chip}", code


def pages(*bundles: bytes) -> bytes:
    """Place each bundle at the start of a page, as the linker does."""
    return b"".join(data.ljust(-(-len(data) // 4096) * 4096, b"\0") for data in bundles[:-1]) + bundles[-1]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., GpuCode]:
    """Return a function: sections → the code found in a library with them."""

    def read_(sections: Mapping[str, bytes], tools: Mapping[str, Path] | None = None) -> GpuCode:
        path = tmp_path / "libdemo.so"
        path.write_bytes(build_elf(extra=sections))
        return read_gpu_code(path, tools or {})

    return read_


@pytest.fixture
def make_cuobjdump(tmp_path: Path) -> Callable[..., Path]:
    """Return a factory of programs that answer as cuobjdump does."""

    def make(elf: str, ptx: str, *, status: int = 0) -> Path:
        (tmp_path / "elf.txt").write_text(elf)
        (tmp_path / "ptx.txt").write_text(ptx)
        answers = f"--list-elf) cat {tmp_path}/elf.txt;;\n--list-ptx) cat {tmp_path}/ptx.txt;;\n"
        script = f"for option; do case $option in\n{answers}esac; done\nexit {status}"
        return write_program(tmp_path / "cuobjdump", script)

    return make


def test_targets_of_plain_and_compressed_bundles_are_merged(read: Callable[..., GpuCode]) -> None:
    """A section holds a bundle per source file, each at the start of a page."""
    section = pages(
        bundle(HOST, target("gfx90a:sramecc+:xnack-")),
        compress(bundle(HOST, target("gfx942"), target("gfx90a"))),
        compress(bundle(HOST, target("gfx1201", bytes(5000))), version=2, method=0),
    )

    assert read({".hip_fatbin": section}) == GpuCode(gfx=("gfx90a", "gfx942", "gfx1201"))


def test_names_of_a_long_bundle_are_read(read: Callable[..., GpuCode]) -> None:
    """Only the beginning is decompressed, in which all entries are named."""
    noise = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(100_000))
    whole = bundle(target("gfx90a", noise), target("gfx942"))

    found = [read({".hip_fatbin": pages(compress(whole, method=method), whole)}).gfx for method in (0, 1)]
    assert found == [("gfx90a", "gfx942")] * 2


@pytest.mark.parametrize(
    ("section", "cause"),
    [
        pytest.param(b"nothing of the kind", "there is no offload bundle at 0x0", id="no bundle"),
        pytest.param(bundle(("hipv4-nvptx64--sm_90", b"")), "names no AMD chip", id="other vendor"),
        pytest.param(bundle(target("gfx942"), lie=1), "an entry claims", id="lying entry"),
        pytest.param(bundle(target("gfx942"), lie=1 << 60), "an entry claims", id="huge entry"),
        pytest.param(b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 8, "entries", id="many entries"),
        pytest.param(bundle(), "a bundle claims 0 entries", id="no entries"),
        pytest.param(b"__CLANG_OFFLOAD_BUNDLE__" + b"\1", "ends after 25 bytes", id="cut table"),
        pytest.param(b"CCOB", "2 bytes at 4 are needed", id="cut header"),
        pytest.param(compress(bundle(HOST), version=3, lie=1), "claims", id="lying length"),
        pytest.param(compress(bundle(HOST), lie=-90), "claims", id="too short a length"),
        pytest.param(compress(b"x" * 64), "holds no bundle", id="no bundle inside"),
        pytest.param(compress(bundle(HOST), method=1)[:-9] + b"\0" * 9, "a compressed bundle", id="damaged zstd"),
        pytest.param(compress(bundle(HOST), method=0)[:-9] + b"\0" * 9, "a compressed bundle", id="damaged zlib"),
        pytest.param(compress(bundle(HOST)).replace(b"CCOB\3", b"CCOB\1"), "has format 1", id="format 1"),
        pytest.param(
            compress(bundle(HOST)).replace(b"CCOB\3\0\1", b"CCOB\3\0\7"), "compressed by method 7", id="method"
        ),
    ],
)
def test_damaged_bundles_are_refused(read: Callable[..., GpuCode], section: bytes, cause: str) -> None:
    """Whatever a section claims, it is an error that names section and library."""
    with pytest.raises(ElfError) as caught:
        read({".hip_fatbin": section})

    assert cause in caught.value.what
    assert caught.value.what.startswith(".hip_fatbin of libdemo.so is damaged: ")


def test_every_cut_of_a_bundle_is_refused(read: Callable[..., GpuCode]) -> None:
    """A section that ends too early never gives names."""
    for whole in (bundle(HOST, target("gfx942")), compress(bundle(HOST, target("gfx942")))):
        for length in range(1, len(whole), 7):
            with pytest.raises(ElfError, match="is damaged"):
                read({".hip_fatbin": whole[:length]})


def test_sycl_target_is_the_name_of_the_section(read: Callable[..., GpuCode]) -> None:
    """Portable code is checked for SPIR-V's magic number; code for one chip has a format of its own."""
    sections = {"__CLANG_OFFLOAD_BUNDLE__sycl-spir64": SPIRV, "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen": b"own"}

    assert read(sections) == GpuCode(spirv=("spir64", "spir64_gen"))


@pytest.mark.parametrize(
    ("name", "content"), [("spir64", b"\x7fELF...."), ("spir64", b"\3\2"), ("spir64\x1b[2J", SPIRV), ("", SPIRV)]
)
def test_section_without_spirv_is_refused(read: Callable[..., GpuCode], name: str, content: bytes) -> None:
    """The name alone proves nothing, and must not carry control characters."""
    with pytest.raises(ElfError, match="is damaged"):
        read({f"__CLANG_OFFLOAD_BUNDLE__sycl-{name}": content})


def test_nvidia_code_is_read_from_the_lists_of_cuobjdump(
    read: Callable[..., GpuCode], make_cuobjdump: Callable[..., Path]
) -> None:
    """Names are sorted by number, and each is named once; that of the library, which is in each line, is none."""
    elf = "".join(f"ELF file{n:5}: libx.sm_10.{n}.sm_{v}.cubin\n" for n, v in enumerate(("120", "90a", "90")))
    tool = make_cuobjdump(elf, "PTX file    1: libdemo.1.sm_120.ptx\n")

    code = read({".nv_fatbin": b"fat"}, {"cuobjdump": tool})

    assert code == GpuCode(sass=("sm_90", "sm_90a", "sm_120"), ptx=("compute_120",))
    assert code.names() == ("compute_120", "sm_90", "sm_90a", "sm_120")


def test_code_of_a_dll_is_read_from_its_section(tmp_path: Path, make_cuobjdump: Callable[..., Path]) -> None:
    """The name of a section ends after eight characters; a DLL without it has no such code."""
    tool = make_cuobjdump("ELF file    1: part.1.sm_120.cubin\n", "")
    sections = []
    for name in (b".text", b".nv_fatb"):
        (tmp_path / "gpu.dll").write_bytes(build_pe(section_name=name))
        sections.append(read_dll_section(tmp_path / "gpu.dll", NVIDIA_PE_SECTION))
    codes = [read_dll_gpu_code(section, {"cuobjdump": tool}.get, where="it") for section in sections]
    assert codes == [GpuCode(), GpuCode(sass=("sm_120",))]
    with pytest.raises(ElfError, match="there is no cuobjdump to read it"):
        read_dll_gpu_code(sections[1], lambda _: None, where="it")


def test_library_with_ptx_alone(read: Callable[..., GpuCode], make_cuobjdump: Callable[..., Path]) -> None:
    """The tool fails when it finds nothing of one kind; that is no failure while it finds the other."""
    elf = "cuobjdump info    : File 'libdemo.so' does not contain device code\n"
    tool = make_cuobjdump(elf, "PTX file    1: libdemo.1.sm_75.ptx\n")

    assert read({".nv_fatbin": b"fat"}, {"cuobjdump": tool}) == GpuCode(ptx=("compute_75",))


@pytest.mark.parametrize(
    ("elf", "status", "message"),
    [
        ("ELF file    1: libdemo.1.cubin\n", 0, "names no architecture"),
        ("cuobjdump fatal   : broken\n", 1, "failed on libdemo.so with status 1"),
        ("", 139, "failed on libdemo.so with status 139"),
        ("cuobjdump info    : File 'x' does not contain device code\n", 255, "finds no code in libdemo.so"),
    ],
)
def test_what_cuobjdump_cannot_tell_is_an_error(
    read: Callable[..., GpuCode], make_cuobjdump: Callable[..., Path], elf: str, status: int, message: str
) -> None:
    """An empty list would be a false statement about the wheel."""
    with pytest.raises(ElfError) as caught:
        read({".nv_fatbin": b"fat"}, {"cuobjdump": make_cuobjdump(elf, elf, status=status)})

    assert message in caught.value.what


def test_nvidia_code_without_the_tool_is_an_error(read: Callable[..., GpuCode], tmp_path: Path) -> None:
    """Missing, and not a program: both say so."""
    with pytest.raises(ElfError, match="there is no cuobjdump to read it"):
        read({".nv_fatbin": b"fat"})
    with pytest.raises(ElfError, match="cannot list"):
        read({".nv_fatbin": b"fat"}, {"cuobjdump": tmp_path})
