# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write a wheel from prepared members, and report what was written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pjrtwheel.files import hash_file
from pjrtwheel.wheel.deflate.compress import LEVEL
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import WheelName
from pjrtwheel.wheel.record import format_record
from pjrtwheel.wheel.report import Report
from pjrtwheel.wheel.write.archive import ArchiveWriter, timestamp
from pjrtwheel.wheel.write.member import Member, text_member
from pjrtwheel.wheel.write.prepare import Prepared


@dataclass(frozen=True, slots=True)
class WheelPlan:
    """All that goes into a wheel.

    Attributes:
        name: Its name.
        members: Its members but RECORD.
        metadata: The text of METADATA, which is also one of the members.
        lock_id: Identity of the set it belongs to; empty when it has no lock.
        provider: Where the inputs came from.
        provenance: Origin of the library.
        gpu_code: Names of the chips that its libraries hold code for.
        gpu_files: The same by member and kind.
    """

    name: WheelName
    members: tuple[Prepared, ...]
    metadata: str
    lock_id: str
    provider: str
    provenance: Mapping[str, Any] = field(default_factory=dict)
    gpu_code: tuple[str, ...] = ()
    gpu_files: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)


def write_wheel(plan: WheelPlan, directory: Path, *, workers: int | None = None, level: int = LEVEL) -> Report:
    """Write a wheel to a directory.

    Args:
        plan: What goes into it.
        directory: Where it is written; made when it is not there.
        workers: Number of compressing threads; as many as there are cores when absent.
        level: Level of libdeflate.

    Raises:
        WheelError: The disk is full; nothing partial stays behind.
    """
    path = directory / plan.name.filename
    record_path = f"{plan.name.dist_info}/RECORD"
    with ArchiveWriter(path, stamp=timestamp(os.environ), workers=workers, level=level) as archive:
        members = _in_order((prepared.member for prepared in plan.members), plan.name.dist_info)
        written = [archive.add(member) for member in members]
        written.append(archive.add(text_member(record_path, format_record(written, record_path))))
    return Report(
        wheel=path.name,
        distribution=plan.name.distribution,
        version=plan.name.version,
        tag=plan.name.tag,
        sha256=hash_file(path),
        size=path.stat().st_size,
        requires=read_field(plan.metadata, "Requires-Dist"),
        lock_id=plan.lock_id,
        provider=plan.provider,
        provenance=plan.provenance,
        changes={prepared.member.path: prepared.changes for prepared in plan.members if prepared.changes},
        findings={prepared.member.path: prepared.findings for prepared in plan.members if prepared.findings},
        stripped_bytes=sum(prepared.dropped_bytes for prepared in plan.members),
        members={entry.path: {"size": entry.size, "sha256": entry.sha256.hex()} for entry in written},
        gpu_code=plan.gpu_code,
        gpu_files=plan.gpu_files,
    )


def _in_order(members: Iterable[Member], dist_info: str) -> list[Member]:
    """Sort members by path, with the metadata at the end of the file, as PEP 427 recommends."""
    return sorted(members, key=lambda member: (member.path.startswith(f"{dist_info}/"), member.path))
