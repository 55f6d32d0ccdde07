# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Turn files into members, with a repair plan for each that is a library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from pjrtwheel.elf import ANYWHERE, Place, check_exports, is_elf, plan_repair, read_chunks, read_image
from pjrtwheel.elf.pieces import Span
from pjrtwheel.errors import ElfError
from pjrtwheel.wheel.write.member import Member, text_member

_LIBRARY_NAME = re.compile(r"\.so(\.[0-9]+)*$")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A member, and what repair does to it.

    Attributes:
        member: What is written.
        changes: What repair changes, in words.
        findings: What is wrong and stays so, in words.
        dropped_bytes: How much shorter it gets.
        is_library: Whether it is a shared library.
    """

    member: Member
    changes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    dropped_bytes: int = 0
    is_library: bool = False


def prepare_member(
    path: str,
    file: BinaryIO,
    *,
    wheel: str,
    machine: str | None,
    exports: Sequence[str] = (),
    executable: bool = False,
    place: Place = ANYWHERE,
) -> Prepared:
    """Plan one member; files that are no libraries pass through as they are.

    Args:
        path: Its path in the wheel.
        file: Its bytes; must stay open until the member is written.
        wheel: File name of the wheel, for messages.
        machine: Machine that libraries must be made for; any known one when absent.
        exports: Symbols the library may define, the first of which it must; empty for no limit.
        executable: Whether a file that is no library gets the permission to execute.
        place: Where a library will be found once the wheel is installed.

    Raises:
        ElfError: A library that is none, is for another machine, damaged, or cannot be repaired.
    """
    where = f"{path} in {wheel}"
    file.seek(0)
    library = is_elf(file.read(4))
    if not library:
        if exports or _LIBRARY_NAME.search(path):
            file.seek(0)
            raise ElfError(f"{where} is not an ELF file", cause=f"it starts with {file.read(8)!r}")
        size = file.seek(0, 2)
        return Prepared(Member(path, size, lambda chunk: read_chunks(file, (Span(0, size),), chunk), executable))
    image = read_image(file, where, machine=machine)
    if exports:
        check_exports(image, exports)
    plan = plan_repair(image, place)
    member = Member(path, plan.size, lambda chunk: read_chunks(file, plan.pieces, chunk), executable=True)
    return Prepared(member, plan.changes, plan.findings, plan.dropped_bytes, is_library=True)


def prepare_texts(contents: Mapping[str, str]) -> tuple[Prepared, ...]:
    """Return the members that are made here and not read."""
    return tuple(Prepared(text_member(path, content)) for path, content in contents.items())
