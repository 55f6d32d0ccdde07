# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`report.json`: what assembly wrote and changed, for the steps that follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pjrtwheel.errors import WheelError, count
from pjrtwheel.files import hash_file
from pjrtwheel.tables import TableError, column, metadata, read_json, write_json
from pjrtwheel.wheel.names import WheelName, parse_name

REPORT_FILENAME = "report.json"
_SHOWN = 10

Lines = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class FinishedWheel:
    """What is reported of a finished wheel, and recorded of it in `release.json`.

    Attributes:
        filename: Name of the file.
        sha256: Hexadecimal digest of the file.
        size: Length of the file in bytes.
        lock_id: Identity of the set this wheel belongs to; empty when it has no lock.
        requires: The `Requires-Dist` lines.
        provider: Where the library came from: `prebuilt`, `source` or `file-<sha256>`.
        provenance: Origin of the library, as the provider wrote it.
        changes: Member → what repair changed, in words.
        stripped_bytes: Bytes that repair dropped, before compression.
        gpu_code: Names of the chips that any of its libraries holds code for, such as `sm_90`.
    """

    filename: str = field(metadata=metadata(pattern=r"[0-9A-Za-z_.+!-]+\.whl"))
    sha256: str = field(metadata=metadata(pattern="[0-9a-f]{64}"))
    size: int
    lock_id: str = field(metadata=metadata(pattern="[0-9A-Za-z.+-]*"))
    requires: tuple[str, ...] = ()
    provider: str = column(pattern="[0-9a-z-]*", default="")
    provenance: Mapping[str, Any] = field(default_factory=dict)
    changes: Lines = field(default_factory=dict)
    stripped_bytes: int = 0
    gpu_code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report(FinishedWheel):
    """What assembly or repair reports of one finished wheel."""

    @property
    def name(self) -> WheelName:
        """The parts of the file name."""
        return parse_name(self.filename)

    def to_json(self) -> str:
        """Return the document."""
        return write_json(self)

    def describe(self) -> str:
        """Return the report in words: a line for the wheel, and one for each of the first changes."""
        changes = [f"  {member}: {line}" for member, lines in self.changes.items() for line in lines]
        more = [f"  and {len(changes) - _SHOWN} more changes in {count(len(self.changes), 'file')}"]
        shown = [*changes[:_SHOWN], *(more if len(changes) > _SHOWN else [])]
        return "\n".join([f"{self.filename} ({self.size} bytes)", *shown])


class BuiltWheel(NamedTuple):
    """A wheel on disk together with its report."""

    path: Path
    report: Report


def report_finished(path: Path, lock_id: str, provider: str, requires: Sequence[str] = ()) -> Report:
    """Describe a wheel, for the steps that verify it, prove it and add it to a folder, without what assembly knows."""
    return Report(path.name, hash_file(path), path.stat().st_size, lock_id, tuple(requires), provider)


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
    """Return the wheel that a build left in `directory`: the one that the report is of, whatever else is there.

    Raises:
        WheelError: One of the two is missing.
    """
    path = directory / REPORT_FILENAME
    report = parse_report(path.read_text("utf-8")) if path.is_file() else None
    if report is None or not (directory / report.filename).is_file():
        raise WheelError(f"no wheel with a {REPORT_FILENAME} of it in {directory}", remedy="build again")
    return BuiltWheel(directory / report.filename, report)
