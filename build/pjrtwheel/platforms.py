# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The platforms that wheels are built for, and what each is called elsewhere."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from pjrtwheel.errors import UsageError


@dataclass(frozen=True, slots=True)
class Platform:
    """One operating system and architecture, by the names others use for it.

    Attributes:
        name: Our name, as after `--platform`.
        architecture: As in wheel tags and `platform.machine()`.
        elf_machine: `e_machine` of its ELF files, as pyelftools spells it.
        compiler_target: Target triple of the pinned C compiler, with the glibc floor of the extension.
    """

    name: str
    architecture: str
    elf_machine: str
    compiler_target: str


PLATFORMS = {
    entry.name: entry
    for entry in (
        Platform("linux_x86_64", "x86_64", "EM_X86_64", "x86_64-linux-gnu.2.17"),
        Platform("linux_aarch64", "aarch64", "EM_AARCH64", "aarch64-linux-gnu.2.17"),
    )
}


def find_platform(name: str) -> Platform:
    """Return the platform of this name.

    Raises:
        UsageError: No such platform; the message lists those there are.
    """
    try:
        return PLATFORMS[name]
    except KeyError:
        raise UsageError(f"unknown platform: {name!r}", remedy=f"known platforms: {', '.join(PLATFORMS)}") from None


def host_platform() -> Platform:
    """Return the platform this process runs on.

    Raises:
        UsageError: Wheels cannot be built on this machine.
    """
    return find_platform(f"{platform.system().lower()}_{platform.machine()}")
