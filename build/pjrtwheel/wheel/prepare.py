# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Turn files into members, with a repair plan for each that is a library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from pjrtwheel.elf import check_exports, is_elf, plan_repair, read_chunks, read_image
from pjrtwheel.elf.pieces import Span
from pjrtwheel.errors import ElfError
from pjrtwheel.wheel.member import Member

_LIBRARY_NAME = re.compile(r"\.so(\.[0-9]+)*$")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A member, and what repair does to it.

    Attributes:
        member: What is written.
        changes: What repair changes, in words.
        findings: What is wrong and stays so, in words.
        dropped_bytes: How much shorter it gets.
    """

    member: Member
    changes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    dropped_bytes: int = 0


def prepare_member(
    path: str,
    file: BinaryIO,
    *,
    wheel: str,
    machine: str | None,
    exports: Sequence[str] = (),
    executable: bool = False,
) -> Prepared:
    """Plan one member; files that are no libraries pass through as they are.

    Args:
        path: Its path in the wheel.
        file: Its bytes; must stay open until the member is written.
        wheel: File name of the wheel, for messages.
        machine: Machine that libraries must be made for; any known one when absent.
        exports: Symbols the library may define, the first of which it must; empty for no limit.
        executable: Whether a file that is no library gets the permission to execute.

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
    plan = plan_repair(image)
    member = Member(path, plan.size, lambda chunk: read_chunks(file, plan.pieces, chunk), executable=True)
    return Prepared(member, plan.changes, plan.findings, plan.dropped_bytes)
