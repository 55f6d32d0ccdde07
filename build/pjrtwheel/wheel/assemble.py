# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write a wheel from a manifest's specification, or a repaired copy of one, and report what was written."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from pjrtwheel.backend import parse_backend
from pjrtwheel.elf.search_paths import LibraryPlace
from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file, make_folder
from pjrtwheel.gpucode import list_codes, merge_codes
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.release.model import read_release
from pjrtwheel.release.wheels import LOCK_FILENAME, make_lock, offered
from pjrtwheel.tables import write_json
from pjrtwheel.wheel import metadata
from pjrtwheel.wheel.archive import open_archive, timestamp
from pjrtwheel.wheel.members import Member, format_record
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import WheelName, make_name
from pjrtwheel.wheel.plan import (
    BindingsSpec,
    KernelsSpec,
    MemberSource,
    PluginSpec,
    Spec,
    WheelPlan,
    describe_origin,
    file_source,
    text_source,
    unchanged_source,
)
from pjrtwheel.wheel.plugin import plan_kernels, plan_plugin
from pjrtwheel.wheel.report import Report, report_finished
from pjrtwheel.wheel.sbom import SBOM_FILENAME, format_sbom
from pjrtwheel.wheel.unpack import Unpacked, read_text, unpack_wheel


def assemble(spec: Spec, directory: Path, setting: int | None = None) -> Report:
    """Write the wheel of a specification.

    Args:
        spec: What it is made from.
        directory: Where it is written; made when it is not there.
        setting: How members are compressed: what libdeflate calls its level; the default when absent.

    Raises:
        ElfError: A library is not what the wheel needs.
        WheelError: An input is missing or damaged, or the disk is full.
    """
    make_folder(directory)
    with ExitStack() as files:
        return write_wheel(plan_wheel(spec, files, scratch=directory), directory, setting)


def plan_wheel(spec: Spec, files: ExitStack, *, scratch: Path) -> WheelPlan:
    """Plan the wheel of a specification; large members may be held in `scratch` until `files` is closed.

    Raises:
        ElfError: A library is not what the wheel needs.
        WheelError: An input is missing or damaged, or the disk is full.
    """
    try:
        if isinstance(spec, PluginSpec):
            return plan_plugin(spec, files)
        if isinstance(spec, KernelsSpec):
            return plan_kernels(spec, files)
        return plan_bindings(spec, files, scratch=scratch)
    except FileNotFoundError as error:
        raise WheelError(f"no such file: {error.filename}", cause="the manifest names it") from error


def write_wheel(plan: WheelPlan, directory: Path, setting: int | None = None) -> Report:
    """Write a wheel to a directory; for the arguments see `assemble`.

    Raises:
        WheelError: The disk is full; nothing partial stays behind.
    """
    path = directory / plan.name.filename
    with open_archive(path, stamp=timestamp(os.environ), setting=setting) as archive:
        members = {member.path: archive.add(member) for member in list_members(plan)}
        archive.add(record_source(plan.name, members))
    return report_written(plan, path)


def record_source(name: WheelName, members: Mapping[str, Member]) -> MemberSource:
    """Return RECORD, the last member of a wheel, which lists all others."""
    path = f"{name.dist_info}/RECORD"
    return text_source(path, format_record(members, path))


def report_written(plan: WheelPlan, path: Path) -> Report:
    """Describe a wheel that was written."""
    return replace(
        report_finished(path, plan.lock_id, plan.provider, read_field(plan.metadata, "Requires-Dist")),
        provenance=plan.provenance,
        changes={member.path: member.changes for member in plan.members if member.changes},
        stripped_bytes=sum(member.dropped_bytes for member in plan.members),
        gpu_code=merge_codes(plan.gpu_files().values()).names(),
    )


def list_members(plan: WheelPlan) -> Iterator[MemberSource]:
    """Yield all members but RECORD by path, with the metadata at the end of the file, as PEP 427 recommends.

    The list of GPU code precedes the metadata: it is read while the libraries are compressed.
    """
    members = sorted(plan.members, key=lambda member: member.path)
    metadata_folder = f"{plan.name.dist_info}/"
    yield from (member for member in members if not member.path.startswith(metadata_folder))
    if codes := plan.gpu_files():
        yield text_source(plan.gpu_list, write_json(list_codes(codes)))
    yield from (member for member in members if member.path.startswith(metadata_folder))


def repair_wheel(wheel: Path, directory: Path, setting: int | None = None) -> Report:
    """Write a repaired copy of a wheel, under the same name, to another directory.

    Raises:
        ElfError: A library in it is damaged or cannot be repaired.
        WheelError: The wheel is damaged or hostile, the copy would take its place, or the disk is full.
    """
    if directory.resolve() == wheel.parent.resolve():
        raise WheelError(f"{wheel} would be overwritten", remedy="give another directory with --output")
    make_folder(directory)
    with ExitStack() as files:
        name, members = unpack_wheel(wheel, files, scratch=directory)
        return write_wheel(_plan(name, members), directory, setting)


def _plan(name: WheelName, members: tuple[Unpacked, ...]) -> WheelPlan:
    if name.platform and name.platform.binary_format is not BinaryFormat.ELF:
        raise WheelError(
            f"{name.filename} cannot be repaired",
            cause=f"its libraries are {name.platform.binary_format} files, and only ELF files are repaired",
            remedy="delocate repairs wheels on macOS, delvewheel those for Windows",
        )
    machine = name.platform.machine if name.platform else None
    return WheelPlan(
        name=name,
        members=tuple(
            file_source(member.path, member.file, wheel=name.filename, machine=machine, executable=member.executable)
            for member in members
        ),
        metadata=read_text(members, f"{name.dist_info}/METADATA"),
    )


def plan_bindings(spec: BindingsSpec, files: ExitStack, *, scratch: Path) -> WheelPlan:
    """Plan our `jaxlib` from upstream's.

    Large members are held on the disk of `scratch` until the wheel is written; then `files` closes the inputs.
    """
    release = read_release(spec.release)
    backends = tuple(parse_backend(path.read_text("utf-8"), path) for path in spec.backends)
    upstream, unpacked = unpack_wheel(spec.wheel, files, scratch=scratch)
    python = upstream.tags[0].abi
    if (upstream.version, python, upstream.platform) != (release.version, spec.python, spec.platform):
        raise WheelError(f"{spec.wheel.name} is not for {release.version}, {spec.python} and {spec.platform.name}")
    lock = spec.lock or make_lock(release, spec.provider)
    name = make_name(upstream.distribution, lock.version, upstream.tag, "" if "+" in lock.version else str(lock.build))
    indexed = {"project": upstream.distribution, "version": upstream.version}
    known, provider = ({"jax_commit": spec.jax_commit}, spec.provider) if spec.jax_commit else (indexed, "prebuilt")
    provenance = describe_origin(provider, spec.wheel.name, hash_file(spec.wheel), **known)
    own_text = metadata.replace_version(read_text(unpacked, f"{upstream.dist_info}/METADATA"), name.version)
    text = metadata.add_extras(own_text, offered(release, backends, spec.provider), name.version)
    generated = {
        f"{name.distribution}/{LOCK_FILENAME}": lock.to_json(),
        f"{name.dist_info}/METADATA": text,
        f"{name.dist_info}/WHEEL": metadata.wheel_metadata(name),
        f"{name.dist_info}/sboms/{SBOM_FILENAME}": format_sbom(name, provenance),
    }
    placed = {_place(member.path, upstream, name): member for member in unpacked}
    sources = [_member_source(path, member, spec) for path, member in placed.items() if path not in generated]
    members = (*sources, *(text_source(path, content) for path, content in generated.items()))
    return WheelPlan(name, members, text, lock.lock_id, spec.provider, provenance)


def _place(path: str, upstream: WheelName, name: WheelName) -> str:
    """Return where a member of upstream's wheel lies in ours: its metadata is in a folder named after the version."""
    inside = path.removeprefix(f"{upstream.dist_info}/")
    return path if inside == path else f"{name.dist_info}/{inside}"


def _member_source(path: str, member: Unpacked, spec: BindingsSpec) -> MemberSource:
    """Plan a member of upstream's wheel: an ELF library is repaired, and every other file stays as it is.

    macOS on Apple's processors loads a library only with an intact signature, which covers every byte of it.
    """
    if spec.platform.binary_format is not BinaryFormat.ELF:
        return unchanged_source(path, member.file, executable=member.executable)
    return file_source(
        path,
        member.file,
        wheel=spec.wheel.name,
        machine=spec.platform.machine,
        executable=member.executable,
        place=LibraryPlace(path.count("/")),
    )
