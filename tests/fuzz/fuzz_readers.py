# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The readers of untrusted input, each with whole samples and the errors by which it may refuse an input."""

import io
import json
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from hostile_wheels import Piece, deflate, pack
from jaxlib_select.errors import SelectError
from jaxlib_select.machine.file import parse_machine, to_json
from pjrtwheel.binaries import read_library
from pjrtwheel.elf.image import read_image
from pjrtwheel.elf.layout import read_pieces
from pjrtwheel.elf.repair import plan_repair
from pjrtwheel.errors import PjrtWheelError
from pjrtwheel.prove.proof_file import read_proof_file, write_proof_file
from pjrtwheel.record.proofs import Level, ProofMachine
from pjrtwheel.verify import documents
from pjrtwheel.verify.contents import read_contents
from pjrtwheel.verify.libraries import Allowed, check_floors, check_libraries
from pjrtwheel.wheel.members import parse_record
from pjrtwheel.wheel.metadata import add_extras, read_field
from pjrtwheel.wheel.report import Report, parse_report
from pjrtwheel.wheel.unpack import unpack_wheel
from release_entries import proof_of
from small_libraries import build_elf, build_fat, build_macho, build_pe
from small_wheels import build_wheel

_ROOT = Path(__file__).resolve().parents[2]
_WHEEL = "demo-1.0-py3-none-any.whl"
_INFO = "demo-1.0.dist-info"


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader under test.

    Attributes:
        read: Reads an input, or refuses it.
        samples: Inputs that it reads.
        refusals: The errors by which it refuses.
        share: How many of a thousand inputs are for it; the slow ones get fewer.
    """

    read: Callable[[bytes], object]
    samples: tuple[bytes, ...]
    refusals: tuple[type[Exception], ...]
    share: int


def all_readers(scratch: Path) -> dict[str, Reader]:
    """Return the readers by name.

    Args:
        scratch: A folder on a fast disk, for those that read files.
    """
    elves = _elf_samples()
    wheels = _wheel_samples(elves[0])
    texts = _text_samples(wheels)
    rows = json.loads((_ROOT / "tests/data/machines/table.json").read_text("utf-8"))["rows"]
    machines = tuple(json.dumps(row["machine"]).encode() for row in rows)
    tooling = (PjrtWheelError,)
    return {
        "record": Reader(_read_record, texts["RECORD"], (ValueError, *tooling), 220),
        "metadata": Reader(_read_metadata, texts["METADATA"], tooling, 160),
        "proofs": Reader(lambda data: _read_proofs(data, scratch), (_proofs_sample(scratch),), tooling, 40),
        "report": Reader(_read_report, (_report_sample(),), tooling, 180),
        "machine": Reader(_read_machine, machines, (SelectError,), 200),
        "elf": Reader(_read_elf, elves, tooling, 60),
        "library": Reader(lambda data: _read_library(data, scratch, "demo.so"), elves, tooling, 30),
        "mach-o": Reader(lambda data: _read_library(data, scratch, "demo.dylib"), _macho_samples(), tooling, 15),
        "pe": Reader(lambda data: _read_library(data, scratch, "demo.pyd"), _pe_samples(), tooling, 15),
        "unpack": Reader(lambda data: _unpack(data, scratch), wheels, tooling, 40),
        "verify": Reader(lambda data: _verify(data, scratch), wheels, tooling, 20),
        "verify-texts": Reader(lambda data: _verify_texts(data, scratch), texts["all"], tooling, 20),
    }


def _read_record(data: bytes) -> object:
    return parse_record(data.decode("utf-8", "replace"))


def _read_metadata(data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    return [read_field(text, field) for field in ("Name", "Requires-Dist")], add_extras(text, [], "1.0")


def _read_report(data: bytes) -> object:
    return parse_report(data.decode("utf-8", "replace")).describe()


def _read_proofs(data: bytes, scratch: Path) -> object:
    path = scratch / "proofs.json"
    path.write_bytes(data)
    return read_proof_file(path)


def _read_machine(data: bytes) -> object:
    return to_json(parse_machine(data.decode("utf-8", "replace")))


def _read_elf(data: bytes) -> object:
    """Read a library and repair it."""
    file = io.BytesIO(data)
    image = read_image(file, "demo.so")
    plan = plan_repair(image)
    return len(read_pieces(file, plan.pieces)), plan.changes


def _read_library(data: bytes, scratch: Path, member: str) -> object:
    path = scratch / member
    path.write_bytes(data)
    libraries = [read_library(path, member)]
    return [*check_libraries(libraries, None, Allowed()), *check_floors(libraries, ["macosx_11_0_arm64"])]


def _unpack(data: bytes, scratch: Path) -> object:
    (scratch / _WHEEL).write_bytes(data)
    with ExitStack() as files:
        return unpack_wheel(scratch / _WHEEL, files, scratch=scratch)


def _verify(data: bytes, scratch: Path) -> object:
    (scratch / _WHEEL).write_bytes(data)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        contents = read_contents(scratch / _WHEEL, Path(folder))
    return [*documents.check_documents(contents), *documents.check_wheel_file(contents)]


def _verify_texts(data: bytes, scratch: Path) -> object:
    """Verify a whole wheel whose texts are the input: METADATA, WHEEL and RECORD, divided by the byte 1."""
    texts = dict(zip(("METADATA", "WHEEL", "RECORD"), data.split(b"\1"), strict=False))
    return _verify(_write_wheel(texts), scratch)


def _write_wheel(texts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(f"{_INFO}/{name}"), text)
    return file.getvalue()


def _elf_samples() -> tuple[bytes, ...]:
    return (
        build_elf(symbols=b""),
        build_elf(runpath="/opt:$ORIGIN", align=0x10000, data_at=0x20000),
        build_elf(machine=183, rpath="/build", needed=("libc.so.6", "libm.so.6"), debug_first=True),
        build_elf(sections=False),
    )


def _macho_samples() -> tuple[bytes, ...]:
    images = {cpu: build_macho(cpu=cpu) for cpu in ("x86_64", "arm64")}
    return (*images.values(), build_macho(signed=False, exports=()), build_fat(images))


def _pe_samples() -> tuple[bytes, ...]:
    return build_pe(), build_pe(needed=("KERNEL32.dll", "python312.dll"), exports=("a", "b"))


def _wheel_samples(elf: bytes) -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        whole = build_wheel(Path(folder), {"demo/__init__.py": b"", "demo/lib.so": elf}, name=_WHEEL).read_bytes()
        small = build_wheel(Path(folder), {"demo.json": b"{}"}, name=_WHEEL).read_bytes()
    described = _describe_behind(small)
    return whole, small, described


def _describe_behind(wheel: bytes) -> bytes:
    """Return a wheel as it comes out of a pipe: sizes and checksums are behind the data."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        members = {name.encode(): archive.read(name) for name in archive.namelist()}
    behind = {
        name: struct.pack("<3I", zlib.crc32(data), len(deflate(data)), len(data)) for name, data in members.items()
    }
    return pack([Piece(name, data, record={"flags": 8}, behind=behind[name]) for name, data in members.items()])


def _text_samples(wheels: tuple[bytes, ...]) -> dict[str, tuple[bytes, ...]]:
    """Return the texts of the samples by name, and all of a wheel in one input."""
    found: dict[str, tuple[bytes, ...]] = {"METADATA": (), "WHEEL": (), "RECORD": (), "all": ()}
    for wheel in wheels:
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            texts = [archive.read(f"{_INFO}/{name}") for name in ("METADATA", "WHEEL", "RECORD")]
        for name, text in zip(found, [*texts, b"\1".join(texts)], strict=True):
            found[name] += (text,)
    return found


def _proofs_sample(scratch: Path) -> bytes:
    path, name = scratch / "proofs.json", "demo-1.0-cp312-abi3-manylinux_2_27_x86_64.whl"
    proof = replace(proof_of(Level.DEVICE, "c" * 40), machine=ProofMachine("Linux-6.1", "A processor", "H100", 1, "7"))
    write_proof_file(path, {name: proof}, {name: "ab" * 32}, signed_off_by="A Tester", date="2026-11-22T12:00:00Z")
    return path.read_bytes()


def _report_sample() -> bytes:
    report = Report(
        filename=_WHEEL, sha256="0" * 64, size=7,
        requires=("numpy>=2.0",), lock_id="a", provider="prebuilt", provenance={"sha256": "b"},
        changes={"demo/lib.so": ("dropped .symtab",)}, stripped_bytes=3,
        gpu_code=("sm_90",),
    )  # fmt: skip
    return report.to_json().encode()
