# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the sections of a library that hold code for accelerators, and read for which chips it is.

NVIDIA's own cuobjdump lists NVIDIA's code: it takes half a second for a library of 400 MB, and no space on disk. It
opens no DLL, but reads the section of one. AMD's code is in the bundles of clang-offload-bundler, plain or compressed
(Clang documentation, "Clang Offload Bundler"); Intel's compiler names a section after its target. Whatever sizes a
hostile file claims, nothing beyond a part is read.
"""

import re
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pjrtwheel.elf.image import ElfImage, read_image
from pjrtwheel.elf.layout import SectionHeader
from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode import GpuCode, order_names

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_CUOBJDUMP = "cuobjdump"
_NVIDIA_SECTIONS = {".nv_fatbin", "__nv_relfatbin"}
NVIDIA_PE_SECTION = ".nv_fatb"  # a name in a DLL has eight characters
_AMD_SECTION = ".hip_fatbin"
_SYCL_PREFIX = "__CLANG_OFFLOAD_BUNDLE__sycl-"  # Intel's SYCL compiler names a section after its target
_SYCL_TARGET = re.compile(r"[a-z0-9_]{1,64}")
_SYCL_PORTABLE = "spir64"
_SPIRV_MAGIC = 0x07230203  # SPIR-V specification, 2.3

# Kind, triple with an empty environment, then the chip and what it must have switched on or off.
_AMD_CODE = re.compile(r"(?:hip|hipv4)-amdgcn-amd-amdhsa-[^-]*-(gfx[0-9a-z-]+?)(?::[a-z+:-]+)?")
_HOST = "host-"
_PLAIN = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = b"CCOB"
_ALIGNMENT = 4096  # the runtime maps bundles, so each begins a page
_MOST_ENTRIES = 1024  # there are some 60 chips
_LONGEST_NAME = 256
_TABLE = len(_PLAIN) + 8 + _MOST_ENTRIES * (24 + _LONGEST_NAME)  # bytes in which all entries of a bundle are named
# Version → what follows magic and version in a compressed bundle: method, sizes of file and content, hash of the
# content. The first version does not say how long it is, so nothing behind it can be found; LLVM 18 wrote the last.
_HEADERS = {2: struct.Struct("<HIIQ"), 3: struct.Struct("<HQQQ")}
_HEADER_AT = 6
# llvm::compression::Format → what decompresses it.
_DECOMPRESSORS: dict[int, Callable[[], Any]] = {0: zlib.decompressobj, 1: zstd.ZstdDecompressor}


@dataclass(frozen=True, slots=True)
class _Window:
    """A range of bytes of an open file; messages call it `where`."""

    file: BinaryIO
    start: int
    size: int
    where: str

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the window.

        Raises:
            ElfError: They lie beyond its end.
        """
        if offset < 0 or length < 0 or offset + length > self.size:
            raise self.damaged(f"it ends at {self.size}, {length} bytes at {offset} are needed")
        self.file.seek(self.start + offset)
        return self.file.read(length)

    def damaged(self, cause: str) -> ElfError:
        """Return the error that says why the window cannot be read."""
        return ElfError(f"{self.where} is damaged: {cause}", remedy="fetch the library again")


def needed_tools(image: ElfImage) -> tuple[str, ...]:
    """Return the names of the programs without which the code of a library cannot be read."""
    return (_CUOBJDUMP,) if _NVIDIA_SECTIONS & {name for name, _ in _filled(image)} else ()


def read_gpu_code(path: Path, tools: Mapping[str, Path], *, where: str = "") -> GpuCode:
    """Return for which chips a library holds code; for none if it has no section with such code.

    The tools are programs of vendors by name, see `needed_tools`; messages call the library `where`, or by its name.

    Raises:
        ElfError: The file is no ELF file, its code is damaged or says what it is not, or a program is missing.
    """
    with path.open("rb") as file:
        image = read_image(file, where or path.name)
        sass, ptx = _list_nvidia(path, tools, image.where) if needed_tools(image) else ((), ())
        gfx: list[str] = []
        spirv: list[str] = []
        for name, section in _filled(image):
            window = _Window(file, section.offset, section.file_size, f"{name} of {image.where}")
            if name == _AMD_SECTION:
                gfx += _read_bundles(window)
            elif name.startswith(_SYCL_PREFIX):
                spirv.append(_sycl_target(name.removeprefix(_SYCL_PREFIX), window))
        return GpuCode(sass, ptx, order_names(gfx), order_names(spirv))


def read_dll_gpu_code(section: bytes, find_tool: Callable[[str], Path | None], *, where: str) -> GpuCode:
    """Return for which of NVIDIA's chips a DLL holds code in its `NVIDIA_PE_SECTION`, which is empty without any.

    That of other vendors has no section of a known name.

    Raises:
        ElfError: As in `read_gpu_code`.
    """
    if not section:
        return GpuCode()
    program = find_tool(_CUOBJDUMP)
    with tempfile.NamedTemporaryFile(suffix=".fatbin") as part:
        part.write(section)
        part.flush()
        return GpuCode(*_list_nvidia(Path(part.name), {_CUOBJDUMP: program} if program else {}, where))


def _list_nvidia(path: Path, tools: Mapping[str, Path], where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of SASS, such as `sm_90`, and of PTX, such as `compute_120`."""
    if _CUOBJDUMP not in tools:
        raise ElfError(
            f"{where} holds code for NVIDIA GPUs, and there is no {_CUOBJDUMP} to read it",
            cause=f"the backend names no tool {_CUOBJDUMP!r}, or it was not handed on",
            remedy=f"give NVIDIA's {_CUOBJDUMP}; the package index has it as nvidia-cuda-cuobjdump",
        )
    names = parse_listing(_run(tools[_CUOBJDUMP], path, where), where)
    if not any(names):
        raise ElfError(
            f"cuobjdump finds no code in {where}, which has a section for it",
            cause="the library is damaged, or newer than the program",
            remedy="fetch it again, or pin a newer nvidia-cuda-cuobjdump",
        )
    return names


def _sycl_target(target: str, window: _Window) -> str:
    """Return the target of a section, such as `spir64`, after a look at its bytes."""
    if not _SYCL_TARGET.fullmatch(target):
        raise window.damaged("its name names no target")
    if target == _SYCL_PORTABLE and struct.unpack("<I", window.read(0, 4))[0] != _SPIRV_MAGIC:
        raise window.damaged("it does not start with SPIR-V's magic number")
    return target


def _filled(image: ElfImage) -> list[tuple[str, SectionHeader]]:
    return [pair for pair in zip(image.names, image.sections, strict=True) if pair[1].file_size]


def _read_bundles(window: _Window) -> Iterator[str]:
    """Yield the chips of all bundles of `.hip_fatbin`, such as `gfx942`.

    Raises:
        ElfError: A bundle is damaged.
    """
    position = 0
    while position < window.size:
        start = window.read(position, min(len(_PLAIN), window.size - position))
        if start == _PLAIN:
            left = window.size - position
            table, content = window.read(position, min(_TABLE, left)), left
            length = 0
        elif start.startswith(_COMPRESSED):
            table, content, length = _decompress(window, position)
        else:
            raise window.damaged(f"there is no offload bundle at {position:#x}, but {start[:8]!r}")
        names, end = _read_entries(table, content, window)
        yield from _find_chips(names, window)
        position = -(-(position + (length or end)) // _ALIGNMENT) * _ALIGNMENT


def _decompress(window: _Window, position: int) -> tuple[bytes, int, int]:
    """Return the beginning of the content of a compressed bundle, the length of all of it, and that of the bundle."""
    (version,) = struct.unpack("<H", window.read(position + len(_COMPRESSED), 2))
    header = _HEADERS.get(version)
    if header is None:
        raise window.damaged(f"the compressed bundle at {position:#x} has format {version}, known are 2 and 3")
    method, size, content, _ = header.unpack(window.read(position + _HEADER_AT, header.size))
    begin, left = _HEADER_AT + header.size, window.size - position
    if not begin < size <= left:
        raise window.damaged(f"the bundle at {position:#x} claims {size} bytes, {left} are left")
    if method not in _DECOMPRESSORS:
        raise window.damaged(f"a bundle is compressed by method {method}, known are zlib (0) and Zstandard (1)")
    # What does not compress grows a little; the table is at the beginning.
    data = window.read(position + begin, min(size - begin, 2 * _TABLE))
    try:
        table = _DECOMPRESSORS[method]().decompress(data, _TABLE)
    except (zlib.error, zstd.ZstdError, EOFError) as error:
        raise window.damaged(f"a compressed bundle cannot be read: {error}") from error
    if len(table) < min(content, _TABLE):
        raise window.damaged(f"a compressed bundle ends after {len(table)} bytes")
    return table, content, size


def _read_entries(table: bytes, content: int, window: _Window) -> tuple[list[str], int]:
    """Return the names of the entries of a bundle, and where the last of them ends."""
    if not table.startswith(_PLAIN):
        raise window.damaged("a compressed bundle holds no bundle")
    try:
        (count,) = struct.unpack_from("<Q", table, len(_PLAIN))
        if not 0 < count <= _MOST_ENTRIES:
            raise window.damaged(f"a bundle claims {count} entries")
        position, end, names = len(_PLAIN) + 8, 0, []
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", table, position)
            stop = position + 24 + length
            if length > _LONGEST_NAME or stop > len(table) or offset + size > content:
                raise window.damaged(f"an entry claims a name of {length} and code of {size} bytes at {offset}")
            names.append(table[position + 24 : stop].decode("utf-8", "replace"))
            position, end = stop, max(end, offset + size)
    except struct.error as error:
        raise window.damaged(f"the table of a bundle ends after {len(table)} bytes") from error
    return names, max(end, position)


def _find_chips(names: list[str], window: _Window) -> Iterator[str]:
    """Yield the chip of each entry; there is no code for the host."""
    for name in names:
        match = _AMD_CODE.fullmatch(name)
        if match:
            yield match[1]
        elif not name.startswith(_HOST):
            raise window.damaged(f"a bundle holds {name!r}, which names no AMD chip")


_LINE = re.compile(r"(ELF|PTX) file +\d+: .+\.sm_(\d+[a-z]?)\.(?:cubin|ptx)")
_LISTED = ("ELF file", "PTX file")
_NOTHING = "does not contain device code"
_TIME_LIMIT = 300  # seconds; only a damaged file takes that long


def parse_listing(text: str, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    r"""Return the names of SASS and of PTX in a list of cuobjdump.

    >>> parse_listing("ELF file    1: a.1.sm_120.cubin\nPTX file    1: a.1.sm_90a.ptx\n", "a.so")
    (('sm_120',), ('compute_90a',))

    Raises:
        ElfError: A line of the list names no version.
    """
    versions: dict[str, set[str]] = {"ELF": set(), "PTX": set()}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match:
            versions[match[1]].add(match[2])
        elif line.startswith(_LISTED):
            raise ElfError(f"cuobjdump names no architecture for a part of {where}", cause=f"it printed {line!r}")
    sass, ptx = (f"sm_{version}" for version in versions["ELF"]), (f"compute_{version}" for version in versions["PTX"])
    return order_names(sass), order_names(ptx)


def _run(cuobjdump: Path, library: Path, where: str) -> str:
    """Return what the program prints; nothing where it says that there is no code."""
    command = [str(cuobjdump), "--list-elf", "--list-ptx", str(library)]  # both in one run: each reads all of it
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIME_LIMIT)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise ElfError(
            f"cannot list the GPU code of {where}: {error}",
            cause="NVIDIA's cuobjdump is missing, not executable, made for another machine, or did not come back",
        ) from error
    said = result.stdout + result.stderr
    if result.returncode and _NOTHING not in said:
        lines = said.strip().splitlines() or ["it printed nothing"]
        raise ElfError(f"cuobjdump failed on {where} with status {result.returncode}", cause=lines[-1])
    return result.stdout
