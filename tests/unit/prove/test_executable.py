# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which chip an executable is for is read from its bytes, in every layout that was seen."""

import struct

import pytest

from pjrtwheel.errors import ProofError
from pjrtwheel.prove import executable
from pjrtwheel.prove.executable import SIGNATURE, find_code, read_payloads, read_varint
from protocol_buffers import make_field, make_varint

V5E = b"\x08\x04\x12\x04lite\x1a\x07default"
V6E = b"\x08\x05\x12\x00\x1a\x07default"


def make_cubin(abi: int, flags: int, machine: int = executable.EM_CUDA, note: bytes = b"") -> bytes:
    """Return the header of an ELF file, and what may follow it."""
    return (
        struct.pack("<7sBB7xHHI24xIHHHHHH", executable.ELF, 0x41, abi, 2, machine, 1, flags, 64, 56, 0, 64, 0, 0) + note
    )


def make_literal(data: bytes) -> bytes:
    """Return a Snappy stream without copies."""
    return make_varint(len(data)) + bytes([63 << 2]) + struct.pack("<I", len(data) - 1) + data


def make_records(values: bytes, compression: bytes = b"s") -> bytes:
    """Return a record file with one chunk of one record."""
    compress = make_literal if compression == b"s" else bytes
    sizes, packed = compress(make_varint(len(values))), compress(values)
    if compression == b"s":
        sizes, packed = make_varint(1) + sizes, make_varint(len(values)) + packed
    chunk = compression + make_varint(len(sizes)) + sizes + packed
    chunks = bytes(24) + b"s" + bytes(15)  # the rest of the first block header's chunk: a signature
    chunks += struct.pack("<8xQ8xQQ", len(chunk), 1 << 8 | ord("r"), len(values)) + chunk
    file, block = SIGNATURE, 0
    while chunks:
        room = (1 << 16) - 24
        file += (bytes(24) if block else b"") + chunks[:room]
        chunks, block = chunks[room:], block + 1
    return file


def make_executable(head: bytes, body: bytes) -> bytes:
    """Return an executable as a client writes it: its head with the head's length, and the body."""
    return make_varint(len(head)) + head + body


def make_tpu_head(chip: bytes) -> bytes:
    """Return the head of a TPU's executable."""
    abi = make_field(1, b"xla::TpuXlaExecutableAbiVersion") + make_field(2, b"\x08\x07" + make_field(2, chip))
    return make_field(2, b"pjrt_ifrt") + make_field(9, b"\x11" + bytes(8) + make_field(3, abi))


@pytest.mark.parametrize(
    ("abi", "flags", "note", "chip"),
    [
        (7, 0x460546, b"", "sm_70"),
        (7, 0x5A0D5A, b"", "sm_90a"),
        (8, 0x600640A, b"", "sm_100a"),
        (8, 0x6007802, b"", "sm_120"),
        (8, 0x6005A04, b"\0-warn-spills  -arch sm_90a \0", "sm_90a"),
        (8, 0x6006402, b"\0-arch sm_100f \0", "sm_100f"),
        (8, 0x6005A04, b"\0-arch sm_80 \0", "sm_90"),
    ],
    ids=["12.9 7.0", "12.9 9.0a", "12.9 10.0a", "12.0", "13.5 9.0a by its note", "13.5 family", "a note of another"],
)
def test_the_header_of_a_cubin_names_its_chip(abi: int, flags: int, note: bytes, chip: str) -> None:
    """The flags are those that NVIDIA's ptxas 12.9 and 13.5 wrote for each chip."""
    assert executable.read_chip(b"before" + make_cubin(abi, flags, note=note), 6) == chip


def test_other_files_are_no_cubins() -> None:
    """Neither a library of the host, nor AMD's code, nor a header that is cut short is taken for NVIDIA's."""
    assert executable.read_chip(make_cubin(0, 0, machine=62), 0) is None
    assert executable.read_chip(make_cubin(0, 0x4C, machine=224), 0) is None
    assert executable.read_chip(make_cubin(8, 0x6005A04)[:40], 0) is None


def test_a_note_belongs_to_its_own_file() -> None:
    """How the second file was made says nothing about the first."""
    first, second = make_cubin(8, 0x6005A04), make_cubin(8, 0x6005A04, note=b"-arch sm_90a ")
    assert executable.read_chip(first + second, 0) == "sm_90"


def test_code_is_found_in_records_within_records() -> None:
    """XLA's executables for GPUs are a record file in a record of another one, both compressed."""
    code = make_cubin(7, 0x500550) + b"text" * 20000 + make_cubin(7, 0x500550) + b"\n.target sm_90, debug\n"
    inner = make_records(b"inner" + code)
    executable = make_executable(b"head", make_records(b"outer" + inner + b"behind it"))
    assert find_code(executable) == ("compute_90", "sm_80")


def test_an_executable_without_code_has_none() -> None:
    """A program that only calls a library has no code of its own."""
    assert find_code(make_executable(b"head", make_records(b"__cublas$lt$matmul"))) == ()


@pytest.mark.parametrize("wrap", [bytes, lambda body: make_records(body, b"\0")], ids=["plain", "in records"])
@pytest.mark.parametrize(("chip", "name"), [(V5E, "tpu4-lite"), (V6E, "tpu5")])
def test_the_chip_of_a_tpu_stands_in_head_and_body(wrap: object, chip: bytes, name: str) -> None:
    """Older libtpu writes the executable plainly, newer ones put it into records."""
    assert callable(wrap)
    body = wrap(b"\x10\x01" + make_field(31, chip) + bytes(100))
    assert find_code(make_executable(make_tpu_head(chip), body)) == (name,)


def test_a_tpu_that_contradicts_itself_is_refused() -> None:
    """An executable for one chip does not pass for another by its head alone."""
    with pytest.raises(ProofError, match="another one than the executable itself"):
        find_code(make_executable(make_tpu_head(V5E), make_field(31, V6E)))


RECORDS = make_records(b"values" * 100)


@pytest.mark.parametrize(
    "data",
    [RECORDS.replace(struct.pack("<I", 599), struct.pack("<I", 9999)), make_records(b"values", b"z")],
    ids=["damaged stream", "unknown compression"],
)
def test_what_cannot_be_read_is_not_taken_for_empty(data: bytes) -> None:
    """Damage is an error, and not an executable without code; so is a number that does not end."""
    with pytest.raises(ProofError):
        list(read_payloads(data))
    with pytest.raises(ProofError):
        read_varint(b"\xff" * 12, 0)
