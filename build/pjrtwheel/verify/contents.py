# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read a finished wheel once, for all checks."""

import email.message
import email.parser
import email.policy
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.binaries import Library, read_library
from pjrtwheel.errors import ElfError, WheelError
from pjrtwheel.verify.findings import Finding, describe_error
from pjrtwheel.wheel.members import Member, open_wheel, read_member
from pjrtwheel.wheel.names import WheelName, parse_name


@dataclass(frozen=True, slots=True)
class WheelContents:
    """Everything the checks look at.

    Attributes:
        members: Every file by path, in order.
        compressed: Path → how much of the wheel it takes.
        texts: Name → text of the small files: dist-info and `*.json`.
        libraries: Name → where the shared object was unpacked.
    """

    path: Path
    name: WheelName
    dist_info: str
    members: dict[str, Member]
    compressed: dict[str, int]
    texts: dict[str, str]
    libraries: dict[str, Path]

    @property
    def platform_tags(self) -> list[str]:
        """Platform tags of the file name."""
        return sorted({tag.platform for tag in self.name.tags})

    @property
    def architecture(self) -> str:
        """The processor of the platform tag; empty for a tag that is none of ours."""
        return self.name.platform.architecture if self.name.platform else ""

    def headers(self, filename: str) -> email.message.Message:
        """Parse a dist-info file in the form of an e-mail header; empty if it is missing."""
        text = self.texts.get(f"{self.dist_info}/{filename}", "")
        return email.parser.Parser(policy=email.policy.compat32).parsestr(text)

    def is_metadata_only(self) -> bool:
        """Return whether the wheel holds metadata alone, which requires other wheels."""
        empty = all(member.startswith(f"{self.dist_info}/") for member in self.members)
        return empty and "Requires-Dist" in self.headers("METADATA")


def read_contents(wheel: Path, scratch: Path) -> WheelContents:
    """Read a wheel and unpack its shared libraries into `scratch`.

    Raises:
        WheelError: The file is not a wheel, is damaged or hostile, or has more than one dist-info directory.
        OSError: There is no room in `scratch`, for which the wheel is not to blame.
    """
    name = parse_name(wheel.name)
    members: dict[str, Member] = {}
    texts: dict[str, str] = {}
    libraries: dict[str, Path] = {}
    with open_wheel(wheel) as archive:
        entries = [info for info in archive.infolist() if not info.is_dir()]
        for index, entry in enumerate(entries):
            target = scratch / f"{index:04d}.so" if _is_library(entry.filename) else None
            with target.open("wb") if target else nullcontext() as file:
                members[entry.filename] = read_member(archive, entry, file)
            if target is not None:
                libraries[entry.filename] = target
            elif ".dist-info/" in entry.filename or entry.filename.endswith(".json"):
                texts[entry.filename] = archive.read(entry).decode("utf-8")
    roots = sorted({member.split("/")[0] for member in members if ".dist-info/" in member})
    if len(roots) != 1:
        raise WheelError(f"{wheel.name} has {len(roots)} dist-info directories, expected one: {roots}")
    compressed = {entry.filename: entry.compress_size for entry in entries}
    return WheelContents(wheel, name, roots[0], members, compressed, texts, libraries)


def _is_library(member: str) -> bool:
    name = member.rsplit("/", 1)[-1]
    return name.endswith((".so", ".dylib", ".pyd", ".dll")) or ".so." in name


def read_libraries(
    wheel: WheelContents, read: Callable[[Path, str], Library] = read_library
) -> tuple[list[Library], list[Finding]]:
    """Return each library of a wheel as `read` describes it, and a finding for each that cannot be read."""
    found: list[Library] = []
    damaged: list[Finding] = []
    for member, path in wheel.libraries.items():
        try:
            found.append(read(path, member))
        except (ElfError, WheelError) as error:
            damaged.append(Finding("library", member, describe_error(error)))
    return found, damaged
