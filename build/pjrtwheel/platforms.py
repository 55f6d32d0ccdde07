# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The platforms that wheels are built for, and what each is called elsewhere."""

import platform
from dataclasses import dataclass
from enum import StrEnum

from pjrtwheel.errors import UsageError

# What `platform.system()` says → the system in our names.
_SYSTEMS = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}


class BinaryFormat(StrEnum):
    """The format of a system's libraries."""

    ELF = "ELF"
    MACH_O = "Mach-O"
    PE = "PE"


@dataclass(frozen=True, slots=True)
class Platform:
    """One operating system and architecture, by the names others use for it.

    Attributes:
        name: Our name, as after `--platform`.
        system: The operating system in our name: `linux`, `macos` or `windows`.
        architecture: As in wheel tags and, apart from upper case on Windows, `platform.machine()`.
        tag_families: How platform tags of its wheels begin.
        marker: The environment marker that holds on this system (PEP 508), whatever the architecture.
        binary_format: The format of its libraries. Only ELF files are repaired: changing others breaks signatures.
        machine: For which processor a library says that it is: `e_machine` of an ELF file as pyelftools spells it, the
            architecture of a Mach-O file, the machine of a PE file.
        compiler_target: Target triple of the pinned C compiler, with the glibc floor of the extension; empty where no
            extension is compiled for the platform, so that it has `jaxlib` and no plugin.
    """

    name: str
    system: str
    architecture: str
    tag_families: tuple[str, ...]
    marker: str
    binary_format: BinaryFormat
    machine: str
    compiler_target: str = ""

    @property
    def builds(self) -> bool:
        """Whether wheels can be built on it, for any platform."""
        return self.system == "linux"

    def has_tag(self, tag: str) -> bool:
        """Whether a platform tag is one of this platform.

        >>> [find_platform("macos_arm64").has_tag(tag) for tag in ("macosx_11_0_arm64", "win_arm64")]
        [True, False]
        """
        family, _, rest = tag.partition("_")
        # manylinux2014 and its like have the year in the family.
        return family.rstrip("0123456789") in self.tag_families and f"_{rest}".endswith(f"_{self.architecture}")


def _linux(architecture: str, machine: str) -> Platform:
    return Platform(
        f"linux_{architecture}",
        "linux",
        architecture,
        ("manylinux", "musllinux", "linux"),
        'sys_platform == "linux"',
        BinaryFormat.ELF,
        machine,
        f"{architecture}-linux-gnu.2.17",
    )


PLATFORMS = {
    entry.name: entry
    for entry in (
        _linux("x86_64", "EM_X86_64"),
        _linux("aarch64", "EM_AARCH64"),
        Platform(
            "macos_arm64", "macos", "arm64", ("macosx",), 'sys_platform == "darwin"', BinaryFormat.MACH_O, "arm64"
        ),
        Platform("windows_x86_64", "windows", "amd64", ("win",), 'sys_platform == "win32"', BinaryFormat.PE, "AMD64"),
    )
}
# The platform whose machines run the tests, and build for systems on which nothing can be built.
REFERENCE = PLATFORMS["linux_x86_64"]


def find_platform(name: str) -> Platform:
    """Return the platform of this name.

    Raises:
        UsageError: No such platform; the message lists those there are.
    """
    try:
        return PLATFORMS[name]
    except KeyError:
        raise UsageError(f"unknown platform: {name!r}", remedy=f"known platforms: {', '.join(PLATFORMS)}") from None


def this_platform() -> Platform:
    """Return the platform this process runs on.

    Raises:
        UsageError: There are no wheels for this machine.
    """
    system, machine = platform.system(), platform.machine()
    here = (_SYSTEMS.get(system), machine.lower())
    found = next((entry for entry in PLATFORMS.values() if (entry.system, entry.architecture) == here), None)
    return found or find_platform(f"{system.lower()}_{machine}")


def host_platform() -> Platform:
    """Return the platform this process runs on, if wheels can be built on it.

    Raises:
        UsageError: Wheels cannot be built on this machine.
    """
    here = this_platform()
    if not here.builds:
        builders = ", ".join(name for name, entry in PLATFORMS.items() if entry.builds)
        raise UsageError(
            f"wheels cannot be built on {here.name}",
            cause="Bazel's actions and the pinned compiler are for Linux",
            remedy=f"build them on one of {builders}, with --platform {here.name}",
        )
    return here
