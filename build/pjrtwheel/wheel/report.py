# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`report.json`: what assembly wrote and changed, for the steps that follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pjrtwheel.errors import WheelError, count, fit
from pjrtwheel.files import hash_file
from pjrtwheel.gpucode import GpuCode
from pjrtwheel.tables import TableError, read_json, write_json
from pjrtwheel.wheel.members import Member
from pjrtwheel.wheel.names import parse_name

REPORT_FILENAME = "report.json"
_SHOWN = 10

Lines = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Report:
    """What assembly or repair reports of one finished wheel.

    Attributes:
        wheel: File name.
        distribution: Project name, such as `jaxlib-cpu`.
        version: Version.
        tag: Compressed tag set of the file name, such as `cp312-abi3-manylinux_2_27_x86_64`.
        sha256: Hexadecimal digest of the file.
        size: Length of the file in bytes.
        requires: The `Requires-Dist` lines.
        lock_id: Identity of the set this wheel belongs to; empty when it has no lock.
        provider: Where the inputs came from: `prebuilt`, `source` or `file-<sha256>`.
        provenance: Origin of the library, as the provider wrote it.
        changes: Member → what repair changed, in words.
        stripped_bytes: Bytes that repair dropped, before compression.
        findings: Member → what is wrong and could not be repaired, in words.
        members: Every member, by path.
        gpu_code: Names of the chips that any of its libraries holds code for, such as `sm_90`.
        gpu_files: The same by member; members without such code are left out.
    """

    wheel: str
    distribution: str
    version: str
    tag: str
    sha256: str
    size: int
    requires: tuple[str, ...]
    lock_id: str
    provider: str
    provenance: Mapping[str, Any]
    changes: Lines
    stripped_bytes: int
    findings: Lines = field(default_factory=dict)
    members: Mapping[str, Member] = field(default_factory=dict)
    gpu_code: tuple[str, ...] = ()
    gpu_files: Mapping[str, GpuCode] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the document."""
        return write_json(self)

    def describe(self) -> str:
        """Return the report in words: a line for the wheel, one for each of the first changes and every finding."""
        changes = [f"  {member}: {line}" for member, lines in self.changes.items() for line in lines]
        more = [f"  and {len(changes) - _SHOWN} more changes in {count(len(self.changes), 'file')}"]
        findings = [f"  {member}: WARNING: {line}" for member, found in self.findings.items() for line in found]
        lines = [f"{self.wheel} ({self.size} bytes)", *changes[:_SHOWN], *(more if len(changes) > _SHOWN else [])]
        return "\n".join(lines + findings)


@dataclass(frozen=True, slots=True)
class BuiltWheel:
    """A wheel on disk together with its report."""

    path: Path
    report: Report


def report_finished(path: Path, lock_id: str, provider: str, requires: Sequence[str] = ()) -> Report:
    """Describe a wheel that was not assembled here, for the steps that verify it, prove it and add it to a folder."""
    name = parse_name(path.name)
    return Report(
        wheel=path.name,
        distribution=name.distribution,
        version=name.version,
        tag=name.tag,
        sha256=hash_file(path),
        size=path.stat().st_size,
        requires=tuple(requires),
        lock_id=lock_id,
        provider=provider,
        provenance={},
        changes={},
        stripped_bytes=0,
    )


def parse_report(text: str) -> Report:
    """Turn the text of a `report.json` into a `Report`; unknown keys are ignored.

    Raises:
        WheelError: The text is not JSON, lacks a key, or has a value of another type.
    """
    try:
        return read_json(Report, text, ignore_unknown=True)
    except TableError as error:
        raise WheelError(
            f"a wheel's report is malformed: {error}",
            cause="it was written by another version of the tooling, or the build was cut short",
            remedy="build again",
        ) from error


def read_built(directory: Path) -> BuiltWheel:
    """Return the wheel that a build left in `directory`, in which there may be nothing but the wheel and its report.

    Raises:
        WheelError: There is anything else, at any depth, or one of the two is missing.
    """
    path = directory / REPORT_FILENAME
    if not path.is_file():
        raise WheelError(f"no wheel with a {REPORT_FILENAME} in {directory}", remedy="build again")
    report = parse_report(path.read_text("utf-8"))
    found = sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*"))
    if found != sorted((report.wheel, REPORT_FILENAME)):
        raise WheelError(
            f"{path} is the report of {report.wheel!r}",
            cause=f"the folder has other files than these two: {fit(found)}",
            remedy="build again",
        )
    return BuiltWheel(directory / report.wheel, report)
