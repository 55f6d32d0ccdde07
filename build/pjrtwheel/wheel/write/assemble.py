# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write a wheel from its plan, or from the specification of a manifest, and report what was written."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.gpucode import merge_codes
from pjrtwheel.wheel.deflate.compress import Compression
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import WheelName
from pjrtwheel.wheel.record import Member, format_record
from pjrtwheel.wheel.report import Report
from pjrtwheel.wheel.write.archive import ArchiveWriter, explain_write_errors, timestamp
from pjrtwheel.wheel.write.bindings import plan_bindings
from pjrtwheel.wheel.write.manifest import BindingsSpec, PluginSpec
from pjrtwheel.wheel.write.plan import MemberSource, WheelPlan, text_source
from pjrtwheel.wheel.write.plugin import plan_plugin


def assemble(spec: PluginSpec | BindingsSpec, directory: Path, compression: Compression | None = None) -> Report:
    """Write the wheel of a specification.

    Args:
        spec: What it is made from.
        directory: Where it is written; made when it is not there.
        compression: How members are compressed; at the default level on all cores when absent.

    Raises:
        ElfError: A library is not what the wheel needs.
        WheelError: An input is missing or damaged, or the disk is full.
    """
    with explain_write_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        return write_wheel(plan_wheel(spec, files, scratch=directory), directory, compression)


def plan_wheel(spec: PluginSpec | BindingsSpec, files: ExitStack, *, scratch: Path) -> WheelPlan:
    """Plan the wheel of a specification; large members may be held in `scratch` until `files` is closed.

    Raises:
        ElfError: A library is not what the wheel needs.
        WheelError: An input is missing or damaged, or the disk is full.
    """
    try:
        if isinstance(spec, PluginSpec):
            return plan_plugin(spec, files)
        return plan_bindings(spec, files, scratch=scratch)
    except FileNotFoundError as error:
        raise WheelError(f"no such file: {error.filename}", cause="the manifest names it") from error


def write_wheel(plan: WheelPlan, directory: Path, compression: Compression | None = None) -> Report:
    """Write a wheel to a directory; for the arguments see `assemble`.

    Raises:
        WheelError: The disk is full; nothing partial stays behind.
    """
    path = directory / plan.name.filename
    with ArchiveWriter(path, stamp=timestamp(os.environ), compression=compression) as archive:
        members = {member.path: archive.add(member) for member in list_members(plan)}
        record = record_source(plan.name, members)
        members[record.path] = archive.add(record)
    return report_written(plan, members, path)


def record_source(name: WheelName, members: Mapping[str, Member]) -> MemberSource:
    """Return RECORD, the last member of a wheel, which lists all others."""
    path = f"{name.dist_info}/RECORD"
    return text_source(path, format_record(members, path))


def report_written(plan: WheelPlan, members: Mapping[str, Member], path: Path) -> Report:
    """Describe a wheel that was written, with all of its members."""
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
        changes={member.path: member.changes for member in plan.members if member.changes},
        findings={member.path: member.findings for member in plan.members if member.findings},
        stripped_bytes=sum(member.dropped_bytes for member in plan.members),
        members=members,
        gpu_code=merge_codes(plan.gpu_files().values()).names(),
        gpu_files=plan.gpu_files(),
    )


def list_members(plan: WheelPlan) -> Iterator[MemberSource]:
    """Yield all members but RECORD by path, with the metadata at the end of the file, as PEP 427 recommends.

    The list of GPU code precedes the metadata: it is read while the libraries are compressed.
    """
    members = sorted(plan.members, key=lambda member: member.path)
    yield from itertools.filterfalse(plan.is_metadata, members)
    yield from plan.list_gpu_code()
    yield from filter(plan.is_metadata, members)
