# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read what assembly reported about the wheel it wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjrtwheel.errors import WheelError

REPORT_FILENAME = "report.json"


@dataclass(frozen=True, slots=True)
class Report:
    """The facts of `report.json` that later steps need.

    Attributes:
        wheel: File name of the wheel.
        distribution: Project name, such as `jaxlib-cpu`.
        version: Version of the wheel.
        tag: Compressed tag set of the file name, such as `cp312-abi3-manylinux_2_27_x86_64`.
        sha256: Hexadecimal digest of the file.
        size: Length of the file in bytes.
        requires: The `Requires-Dist` lines.
        lock_id: Identity of the set of wheels this one belongs to.
        provider: Where the inputs came from: `prebuilt`, `source` or `file-<sha256>`.
        provenance: Origin of the library, as the provider wrote it.
        changes: Member → what repair did to it.
        stripped_bytes: Bytes that repair dropped.
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
    provenance: dict[str, Any]
    changes: dict[str, tuple[str, ...]]
    stripped_bytes: int


@dataclass(frozen=True, slots=True)
class BuiltWheel:
    """A wheel on disk together with its report."""

    path: Path
    report: Report


def parse_report(text: str) -> Report:
    """Turn the text of a `report.json` into a `Report`; keys this step does not need are ignored.

    Raises:
        WheelError: The text is not JSON, or lacks a key.
    """
    try:
        table: dict[str, Any] = json.loads(text)
        return Report(
            wheel=table["wheel"],
            distribution=table["distribution"],
            version=table["version"],
            tag=table["tag"],
            sha256=table["sha256"],
            size=table["size"],
            requires=tuple(table["requires"]),
            lock_id=table["lock_id"],
            provider=table["provider"],
            provenance=table["provenance"],
            changes={member: tuple(lines) for member, lines in table["changes"].items()},
            stripped_bytes=table["stripped_bytes"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WheelError(
            f"a wheel's report is malformed: {error!r}",
            cause="it was written by another version of the tooling, or the build was cut short",
            remedy="build again",
        ) from error


def read_built(directory: Path) -> tuple[BuiltWheel, ...]:
    """Return the wheels that a build left in `directory`, each beside its report, at any depth.

    Raises:
        WheelError: There is none, or a report names a file that is not there.
    """
    found = []
    for path in sorted(directory.rglob(REPORT_FILENAME)):
        report = parse_report(path.read_text("utf-8"))
        wheel = path.parent / report.wheel
        if not wheel.is_file():
            raise WheelError(f"{path} names {report.wheel!r}, which is not beside it", remedy="build again")
        found.append(BuiltWheel(wheel, report))
    if not found:
        raise WheelError(f"no wheel with a {REPORT_FILENAME} in {directory}", remedy="build again")
    return tuple(found)
