# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Factories of tiny libraries for Linux, macOS and Windows, written byte by byte: no compiler."""

import itertools
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pjrtwheel.elf.layout import FileHeader, SectionHeader, Segment

HOST_ELF = {"x86_64": 62, "aarch64": 183}.get(platform.machine(), 62)  # e_machine

# Name, header, and bytes; None for bytes that have their place already.
_Section = tuple[str, SectionHeader, bytes | None]


def _string_table(names: Sequence[str]) -> tuple[bytes, dict[str, int]]:
    """Return a string table and the offset of each name in it."""
    table, offsets = bytearray(b"\0"), {"": 0}
    for name in names:
        offsets.setdefault(name, len(table))
        table += name.encode() + b"\0"
    return bytes(table), offsets


def build_elf(
    *,
    exports: Sequence[str] = ("GetPjrtApi",),
    needed: Sequence[str] = ("libc.so.6",),
    runpath: str | None = None,
    rpath: str | None = None,
    merged: str | None = None,
    machine: int = 62,
    kind: int = 3,
    align: int = 0x1000,
    data_at: int | None = None,
    stack_flags: int = 6,
    symbols: bytes = bytes(24 * 20),
    comment: bytes = b"made by hand\0",
    debug_first: bool = False,
    early_symbols: bytes = b"",
    sections: bool = True,
    extra: Mapping[str, bytes] | None = None,
) -> bytes:
    """Write a shared library with one loaded segment that holds all its dynamic tables.

    Args:
        exports: Names of the dynamic symbols it defines.
        needed: Libraries it needs.
        runpath: DT_RUNPATH, if any.
        rpath: DT_RPATH, if any.
        merged: A symbol whose name is the end of the search path, as linkers merge them.
        machine: `e_machine`.
        kind: `e_type`.
        align: Alignment of the loaded segment.
        data_at: Address of a second loaded segment, behind the first.
        stack_flags: Flags of PT_GNU_STACK.
        symbols: Bytes of .symtab; none for a library that is stripped already.
        comment: Bytes of .comment; none to leave it out.
        debug_first: Put a .debug_info section before the loaded ones in the section table.
        early_symbols: Bytes of a .symtab that lies before the second loaded segment, as after patchelf.
        sections: Whether there is a section header table at all.
        extra: Name → bytes of further sections.
    """
    paths = [path for path in (runpath, rpath) if path is not None]
    dynstr, at = _string_table([*exports, *needed, *paths])
    defined = list(exports)
    if merged is not None:
        at[merged] = at[paths[0]] + len(paths[0]) - len(merged)
        defined.append(merged)
    dynsym = bytes(24) + b"".join(struct.pack("<IBBHQQ", at[name], 0x12, 0, 1, 0x40, 8) for name in defined)
    segment_count = 3 + (data_at is not None)
    dynsym_at = 64 + 56 * segment_count
    dynstr_at = dynsym_at + len(dynsym)
    dynamic_at = (dynstr_at + len(dynstr) + 7) & ~7
    entries = [(1, at[name]) for name in needed]
    entries += [(tag, at[path]) for tag, path in ((29, runpath), (15, rpath)) if path is not None]
    entries += [(5, dynstr_at), (10, len(dynstr)), (6, dynsym_at), (11, 24), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    loaded = dynamic_at + len(dynamic)
    segments = [
        Segment(1, 5, 0, 0, 0, loaded, loaded, align),
        Segment(2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8),
        Segment(0x6474E551, stack_flags, 0, 0, 0, 0, 0, 16),
    ]
    body = dynsym + dynstr + bytes(dynamic_at - dynstr_at - len(dynstr)) + dynamic + early_symbols
    if data_at is not None:
        body += bytes((data_at - loaded - len(early_symbols)) % align if early_symbols else 0)
        segments.insert(1, Segment(1, 6, dynsym_at + len(body), data_at, data_at, 16, 16, align))
        body += b"data" * 4
    first = 1 + debug_first  # index of .dynsym
    table: list[_Section] = [
        (".dynsym", SectionHeader(0, 11, 2, dynsym_at, dynsym_at, len(dynsym), first + 1, 1, 8, 24), None),
        (".dynstr", SectionHeader(0, 3, 2, dynstr_at, dynstr_at, len(dynstr), 0, 0, 1, 0), None),
        (".dynamic", SectionHeader(0, 6, 3, dynamic_at, dynamic_at, len(dynamic), first + 1, 0, 8, 16), None),
        (".symtab", SectionHeader(0, 2, 0, 0, loaded, len(early_symbols), 2, 1, 8, 24), None),
        (".comment", SectionHeader(0, 1, 0x30, 0, 0, 0, 0, 0, 1, 1), comment),
        (".note.custom", SectionHeader(0, 1, 0, 0, 0, 0, 0, 0, 4, 0), b"keep me"),
    ]
    table = [entry for entry in table if entry[2] != b"" and entry[1].size + len(entry[2] or b"")]
    table += [(name, SectionHeader(0, 1, 0, 0, 0, 0, 0, 0, 1, 0), content) for name, content in (extra or {}).items()]
    if debug_first:
        table.insert(0, (".debug_info", SectionHeader(0, 1, 0, 0, 0, 0, 0, 0, 1, 0), b"debug" * 8))
    if symbols:
        table.append((".symtab", SectionHeader(0, 2, 0, 0, 0, 0, len(table) + 2, 1, 8, 24), symbols))
        table.append((".strtab", SectionHeader(0, 3, 0, 0, 0, 0, 0, 0, 1, 0), b"\0a_long_private_name\0"))
    rest, headers = _place_sections(table, dynsym_at + len(body)) if sections else (b"", [])
    body += rest
    shoff = dynsym_at + len(body) if sections else 0
    header = FileHeader(
        kind, machine, 1, 0, 64, shoff, 0, 64, 56, segment_count, 64, len(headers), max(len(headers) - 1, 0)
    )
    records = [header.pack(), *(segment.pack() for segment in segments), body, *(entry.pack() for entry in headers)]
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + b"".join(records)


def bare_elf(**options: Any) -> bytes:
    """Return a library that holds nothing unneeded."""
    return build_elf(symbols=b"", comment=b"", **options)


def _place_sections(table: Sequence[_Section], position: int) -> tuple[bytes, list[SectionHeader]]:
    """Lay out the sections that have no place yet, then their names; return their bytes and the header table."""
    names, name_at = _string_table([*(name for name, _, _ in table), ".shstrtab"])
    start, data = position, b""
    headers = [SectionHeader(*[0] * 10)]
    for name, header, content in [*table, (".shstrtab", SectionHeader(0, 3, 0, 0, 0, 0, 0, 0, 1, 0), names)]:
        named = replace(header, name=name_at[name])
        if content is not None:
            data += bytes(-(start + len(data)) % 8)
            named = replace(named, offset=start + len(data), size=len(content))
            data += content
        headers.append(named)
    return data + bytes(-(start + len(data)) % 8), headers


_CPU_TYPES = {"arm64": 0x0100000C, "x86_64": 0x01000007}


def _command(number: int, body: bytes, text: str = "") -> bytes:
    """Return a load command of a Mach-O file; a text at its end is padded with zeros."""
    data = body + (text.encode() + b"\0" if text else b"")
    data += bytes(-len(data) % 8)
    return struct.pack("<II", number, 8 + len(data)) + data


def _export_trie(names: Sequence[str]) -> bytes:
    """Return the exports of a Mach-O file: a node with an edge for each name, and a leaf at its end."""
    root, leaves = bytes([0, len(names)]), b""
    first = len(root) + sum(len(name) + 2 for name in names)
    for name in names:
        root += name.encode() + bytes([0, first + len(leaves)])
        leaves += bytes([2, 0, 0x40, 0])  # length, flags, address, edges
    return root + leaves


def build_macho(
    *,
    cpu: str = "arm64",
    system: tuple[int, int] | None = (11, 0),
    needed: Sequence[str] = ("/usr/lib/libSystem.B.dylib",),
    search_paths: Sequence[str] = ("@loader_path/",),
    exports: Sequence[str] = ("PyInit_demo",),
    signed: bool = True,
) -> bytes:
    """Write a dynamic library of macOS with nothing in it but load commands, exports and a signature.

    Args:
        cpu: Its architecture.
        system: The oldest macOS it is for; nothing to leave that out.
        needed: Install names of the libraries it needs.
        search_paths: Its LC_RPATH commands.
        exports: Names of the symbols it defines, as in C.
        signed: Whether it has an ad-hoc signature.
    """
    trie = _export_trie([f"_{name}" for name in exports])
    dylib = struct.pack("<4I", 24, 0, 0x10000, 0x10000)
    commands = [_command(0xD, dylib, "@rpath/libdemo.dylib")]
    commands += [_command(0xC, dylib, name) for name in needed]
    commands += [_command(0x8000001C, struct.pack("<I", 12), path) for path in search_paths]
    if system:
        commands.append(_command(0x32, struct.pack("<4I", 1, system[0] << 16 | system[1] << 8, 0xF0400, 0)))
    # Two segments, the exports and the place of the signature.
    start = 32 + sum(map(len, commands)) + 2 * 72 + 16 + (16 if signed else 0)
    end = start + len(trie)
    end += -end % 16
    signature = struct.pack(">3I", 0xFADE0CC0, 12, 0) if signed else b""  # no certificate, and no digests of pages
    total = end + len(signature)
    for name, offset, length in ((b"__TEXT", 0, start), (b"__LINKEDIT", start, total - start)):
        fields = struct.pack("<16s4Q4I", name, offset, length, offset, length, 7, 5, 0, 0)
        commands.append(_command(0x19, fields))
    commands.append(_command(0x80000033, struct.pack("<2I", start, len(trie))))
    if signed:
        commands.append(_command(0x1D, struct.pack("<2I", end, len(signature))))
    header = struct.pack("<8I", 0xFEEDFACF, _CPU_TYPES[cpu], 0, 6, len(commands), sum(map(len, commands)), 0, 0)
    return (header + b"".join(commands) + trie).ljust(end, b"\0") + signature


def build_fat(images: Mapping[str, bytes]) -> bytes:
    """Put Mach-O files for several architectures into one."""
    header, body, at = struct.pack(">2I", 0xCAFEBABE, len(images)), b"", 0x4000
    for cpu, image in images.items():
        header += struct.pack(">5I", _CPU_TYPES[cpu], 0, at, len(image), 14)
        body += image.ljust(-(-len(image) // 0x4000) * 0x4000, b"\0")
        at = 0x4000 + len(body)
    return header.ljust(0x4000, b"\0") + body


def build_pe(
    *,
    machine: int = 0x8664,
    needed: Sequence[str] = ("KERNEL32.dll",),
    exports: Sequence[str] = ("PyInit_demo",),
    section_name: bytes = b".rdata",
) -> bytes:
    """Write a DLL with one section that holds its tables of imports and exports.

    Args:
        machine: `Machine` of the file header.
        needed: The DLLs it needs; of each it takes one function.
        exports: Names of the functions it defines.
        section_name: What the section is called.
    """
    base, file_at = 0x1000, 0x400
    descriptors = 20 * (len(needed) + 1)
    texts, text_at = _string_table(["demo.pyd", *needed, *exports])
    thunks_at = base + descriptors + 40 + 10 * len(exports)
    thunks_at += -thunks_at % 8
    names_at = thunks_at + 16 * len(needed) + 16
    hint = names_at + len(texts)  # hint and name of the one function that is taken from each DLL
    imports = b"".join(
        struct.pack("<5I", thunks_at + 16 * number, 0, 0, names_at + text_at[name], thunks_at + 16 * number)
        for number, name in enumerate(needed)
    )
    export_at = base + descriptors
    tables = [export_at + 40 + step * len(exports) for step in (0, 4, 8)]
    count = len(exports)
    data = imports.ljust(descriptors, b"\0")
    data += struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, names_at + text_at["demo.pyd"], 1, count, count, *tables)
    data += b"".join(struct.pack("<I", hint) for _ in exports)
    data += b"".join(struct.pack("<I", names_at + text_at[name]) for name in exports)
    data += b"".join(struct.pack("<H", number) for number in range(count))
    data = data.ljust(thunks_at - base, b"\0") + struct.pack("<2Q", hint, 0) * len(needed)
    data = data.ljust(names_at - base, b"\0") + texts + b"\0\0Sleep\0"
    raw = data.ljust(-(-len(data) // 512) * 512, b"\0")
    directories = struct.pack("<4I", export_at, 40 + 10 * count, base, descriptors).ljust(128, b"\0")
    optional = struct.pack("<HBB5IQ2I", 0x20B, 14, 0, 0, len(raw), 0, 0, base, 0x180000000, 0x1000, 0x200)
    optional += struct.pack("<6H4IHH4QII", 6, 0, 0, 0, 6, 0, 0, 0x3000, file_at, 0, 2, 0x160, *[0x100000] * 4, 0, 16)
    optional += directories
    header = struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, len(optional), 0x2022)
    section = struct.pack("<8s6I2HI", section_name, len(data), base, len(raw), file_at, 0, 0, 0, 0, 0x40000040)
    stub = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64)
    return (stub + b"PE\0\0" + header + optional + section).ljust(file_at, b"\0") + raw


def loadable_elf(*exports: str, needed: Sequence[str] = ()) -> bytes:
    """Return a shared library that the dynamic linker loads: one segment with the tables that it reads."""
    texts = [*exports, *needed]
    names = b"\0" + b"".join(text.encode() + b"\0" for text in texts)
    at = {text: names.index(b"\0" + text.encode() + b"\0") + 1 for text in texts}
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", at[name], 0x12, 0, 1, 0x40, 8) for name in exports)
    count = 1 + len(exports)
    chains = struct.pack(f"<{3 + count}I", 1, count, count - 1, *(max(index - 1, 0) for index in range(count)))
    parts = [part + bytes(-len(part) % 8) for part in (symbols, chains, names)]
    symbols_at, chains_at, names_at, dynamic_at = itertools.accumulate(map(len, parts), initial=64 + 2 * 56)
    entries = [*((1, at[name]) for name in needed), (4, chains_at), (5, names_at), (6, symbols_at)]
    entries += [(10, len(names)), (11, 24), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    size = dynamic_at + len(dynamic)
    segments = struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, size, size, 0x1000)
    segments += struct.pack("<IIQQQQQQ", 2, 6, *[dynamic_at] * 3, *[len(dynamic)] * 2, 8)
    header = struct.pack("<HHIQQQIHHHHHH", 3, HOST_ELF, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + header + segments + b"".join(parts) + dynamic
