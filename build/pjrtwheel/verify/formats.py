# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The formats of libraries: each is a module that reads a library and knows what its operating system wants of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pjrtwheel.errors import ElfError, WheelError
from pjrtwheel.platforms import BinaryFormat, Platform
from pjrtwheel.verify import elf, macho, pe
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.findings import Finding, Problem, describe_error, name_problems
from pjrtwheel.verify.library import Library


class Format(Protocol):
    """What a module for a format has.

    Attributes:
        CODE: Of findings about one library.
        WHEEL_CODE: Of findings about the libraries of a wheel together.
        SUFFIXES: How names of such libraries end.
    """

    CODE: str
    WHEEL_CODE: str
    SUFFIXES: tuple[str, ...]

    def is_format(self, start: bytes) -> bool:
        """Whether a file that starts so is of this format; four bytes are enough."""

    def read_library(self, path: Path, member: str) -> Library:
        """Read a library; an `ElfError` or `WheelError` names the member when it is none, or damaged."""

    def check_library(self, library: Library, machine: str, search_paths: Sequence[str] = ()) -> Iterator[Problem]:
        """The library is for this machine, and loads wherever the wheel is installed."""

    def check_wheel(
        self, wheel: WheelContents, found: Sequence[Library], external: Collection[str]
    ) -> Iterator[Problem]:
        """The platform tags are proven, and all that is needed is in the wheel, part of the system, or `external`."""


FORMATS: Mapping[BinaryFormat, Format] = {
    BinaryFormat.ELF: elf,
    BinaryFormat.MACH_O: macho,
    BinaryFormat.PE: pe,
}


def find_format(path: Path, member: str) -> BinaryFormat:
    """Return the format of a file by its content; by its name in the wheel where the content is of none."""
    with path.open("rb") as file:
        start = file.read(4)
    by_content = (name for name, module in FORMATS.items() if module.is_format(start))
    by_name = (name for name, module in FORMATS.items() if member.endswith(module.SUFFIXES))
    return next(by_content, next(by_name, BinaryFormat.ELF))


def read_library(path: Path, member: str) -> Library:
    """Read a library of any format.

    Raises:
        ElfError: It is not an ELF file, though its name is that of one, or is damaged.
        WheelError: The same of the other formats.
    """
    return FORMATS[find_format(path, member)].read_library(path, member)


def read_libraries(
    libraries: Mapping[str, Path], read: Callable[[Path, str], Library]
) -> tuple[list[Library], list[Finding]]:
    """Return each library as `read` describes it, and a finding for each that cannot be read."""
    found: list[Library] = []
    damaged: list[Finding] = []
    for member, path in libraries.items():
        try:
            found.append(read(path, member))
        except (ElfError, WheelError) as error:
            damaged.append(Finding("library", member, describe_error(error)))
    return found, damaged


def check_libraries(
    wheel: WheelContents,
    found: Sequence[Library],
    platform: Platform | None,
    *,
    search_paths: Sequence[str] = (),
    external: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield what is wrong with the libraries of a wheel, which has to be for one platform.

    The given search paths are right although they lead out of `site-packages`, the `external` libraries although
    neither wheel nor system has them.
    """
    if platform is None:
        if wheel.libraries:
            yield Finding("architecture", "", "the platform tag is that of no system and processor we have wheels for")
        return
    expected = platform.binary_format
    module = FORMATS[expected]
    for library in found:
        if library.binary_format is expected:
            problems = module.check_library(library, platform.machine, search_paths)
        else:
            text = f"is a {library.binary_format} file for {library.machine}, expected {expected}"
            problems = iter([(library.member, text)])
        yield from name_problems(module.CODE, problems)
    if wheel.libraries:
        yield from name_problems(module.WHEEL_CODE, module.check_wheel(wheel, found, external))
