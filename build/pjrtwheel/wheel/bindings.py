# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Plan our `jaxlib`: upstream's wheel with repaired libraries, our lock, and an extra for each accelerator."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pjrtwheel.backend import parse_backend
from pjrtwheel.elf import LibraryPlace
from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.release.model import Release, read_release
from pjrtwheel.release.wheels import LOCK_FILENAME, make_lock, offered
from pjrtwheel.wheel import metadata
from pjrtwheel.wheel.archive import explain_write_errors
from pjrtwheel.wheel.names import WheelName, make_name
from pjrtwheel.wheel.plan import BindingsSpec, MemberSource, WheelPlan, file_source, text_source, unchanged_source
from pjrtwheel.wheel.read.unpack import Unpacked, read_text, unpack_wheel
from pjrtwheel.wheel.sbom import SBOM_FILENAME, format_sbom


def plan_bindings(spec: BindingsSpec, files: ExitStack, *, scratch: Path) -> WheelPlan:
    """Plan our `jaxlib` from upstream's.

    Large members are held on the disk of `scratch` until the wheel is written; then `files` closes the inputs.
    """
    release = read_release(spec.release)
    backends = tuple(parse_backend(path.read_text("utf-8"), path) for path in spec.backends)
    digest = _check_pin(spec, release)
    with explain_write_errors(scratch):
        upstream, unpacked = unpack_wheel(spec.wheel, files, scratch=scratch)
    python = upstream.tags[0].abi
    if (upstream.version, python) != (release.version, spec.python):
        raise WheelError(
            f"{spec.wheel.name} is not for release {release.version} and {spec.python}",
            cause=f"it is version {upstream.version} for {python}",
        )
    if upstream.platform != spec.platform:
        raise WheelError(f"{spec.wheel.name} is not for {spec.platform.name}")
    name = make_name(upstream.distribution, release.set_version, upstream.tag, release.build_tag)
    lock = make_lock(release, spec.provider)
    provenance = _bindings_provenance(spec, upstream, digest)
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


def _check_pin(spec: BindingsSpec, release: Release) -> str:
    """Return the digest of upstream's wheel, which must be the pinned one if it bears its name.

    In source mode the bindings are not pinned by file.
    """
    digest = hash_file(spec.wheel)
    pin = release.pins.get(f"bindings.{spec.python}.{spec.platform.name}")
    if pin and pin.filename == spec.wheel.name and pin.sha256 != digest:
        raise WheelError(
            f"{spec.wheel.name} has sha256 {digest}, pinned is {pin.sha256}",
            cause="the file was damaged or replaced",
            remedy="remove it from the cache and fetch it again",
        )
    return digest


def _bindings_provenance(spec: BindingsSpec, upstream: WheelName, digest: str) -> dict[str, Any]:
    return {
        "provider": spec.provider,
        "project": upstream.distribution,
        "version": upstream.version,
        "filename": spec.wheel.name,
        "sha256": digest,
        "member": None,
        "xla_commit": None,
        "licenses": [],
    }
