# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Plan a wheel from a manifest's specification: derive its name, metadata, lock and bill of materials."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend, parse_backend
from pjrtwheel.errors import WheelError
from pjrtwheel.lock import LOCK_FILENAME, make_lock
from pjrtwheel.release import Release, read_release
from pjrtwheel.wheel import metadata
from pjrtwheel.wheel.archive import explain_write_errors
from pjrtwheel.wheel.manifest import BindingsSpec, PluginSpec
from pjrtwheel.wheel.member import text_member
from pjrtwheel.wheel.names import WheelName, make_name
from pjrtwheel.wheel.prepare import Prepared, prepare_member
from pjrtwheel.wheel.report import Report
from pjrtwheel.wheel.sbom import SBOM_FILENAME, format_sbom
from pjrtwheel.wheel.source import read_text, unpack_wheel
from pjrtwheel.wheel.write import WheelPlan, write_wheel

PROVENANCE_FILENAME = "provenance.json"


def assemble(spec: PluginSpec | BindingsSpec, directory: Path, *, workers: int | None = None) -> Report:
    """Write the wheel of a specification.

    Args:
        spec: What it is made from.
        directory: Where it is written; made when it is not there.
        workers: Number of compressing threads; as many as there are cores when absent.

    Raises:
        ElfError: A library is not what the wheel needs.
        WheelError: An input is missing or damaged, or the disk is full.
    """
    with explain_write_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        try:
            if isinstance(spec, PluginSpec):
                plan = plan_plugin(spec, files)
            else:
                plan = plan_bindings(spec, files, scratch=directory)
        except FileNotFoundError as error:
            raise WheelError(f"no such file: {error.filename}", cause="the manifest names it") from error
        return write_wheel(plan, directory, workers=workers)


def plan_plugin(spec: PluginSpec, files: ExitStack) -> WheelPlan:
    """Plan the wheel of one backend.

    Args:
        spec: What it is made from.
        files: Closes the inputs after the wheel is written.
    """
    release, backend = read_release(spec.release), _read_backend(spec.backend)
    library = f"{backend.package}/{backend.library}"
    if library not in spec.files:
        raise WheelError(f"the manifest has no {library!r}", cause=f"the wheel {backend.distribution} exists for it")
    if spec.platform.name not in backend.tags:
        raise WheelError(f"{backend.path} has no wheel tag for {spec.platform.name}")
    name = make_name(
        backend.distribution, release.version, f"{backend.python_tag}-abi3-{backend.tags[spec.platform.name]}"
    )
    lock = make_lock(release, spec.provider)
    provenance = _read_provenance(spec.provenance)
    text = metadata.plugin_metadata(
        name,
        backend,
        release=release.version,
        licenses=spec.licenses,
        readme=spec.readme.read_text("utf-8"),
    )
    generated = {
        f"{backend.package}/{LOCK_FILENAME}": lock.to_json(),
        f"{backend.package}/{PROVENANCE_FILENAME}": json.dumps(provenance, indent=2, sort_keys=True) + "\n",
        f"{name.dist_info}/METADATA": text,
        f"{name.dist_info}/WHEEL": metadata.wheel_metadata(name),
        f"{name.dist_info}/entry_points.txt": metadata.entry_points(backend),
        f"{name.dist_info}/sboms/{SBOM_FILENAME}": format_sbom(name, provenance),
    }
    on_disk = spec.files | {f"{name.dist_info}/licenses/{file}": path for file, path in spec.licenses.items()}
    twice = sorted(generated.keys() & on_disk.keys())
    if twice:
        raise WheelError(f"the manifest gives {', '.join(twice)}, which assembly writes itself")
    prepared = [
        prepare_member(
            member,
            files.enter_context(path.open("rb")),
            wheel=name.filename,
            machine=spec.platform.elf_machine,
            exports=backend.exports if member == library else (),
        )
        for member, path in on_disk.items()
    ]
    members = (*prepared, *_texts(generated))
    return WheelPlan(name, members, text, lock.lock_id, spec.provider, provenance)


def plan_bindings(spec: BindingsSpec, files: ExitStack, *, scratch: Path) -> WheelPlan:
    """Plan our `jaxlib` from upstream's.

    Args:
        spec: What it is made from.
        files: Closes the inputs after the wheel is written.
        scratch: Directory on whose disk large members are held meanwhile.
    """
    release = read_release(spec.release)
    backends = tuple(map(_read_backend, spec.backends))
    digest = _check_pin(spec, release)
    with explain_write_errors(scratch):
        upstream, unpacked = unpack_wheel(spec.wheel, files, scratch=scratch)
    python = upstream.tag.partition("-")[0]
    if (upstream.version, python) != (release.version, spec.python):
        raise WheelError(
            f"{spec.wheel.name} is not for release {release.version} and {spec.python}",
            cause=f"it is version {upstream.version} for {python}",
        )
    name = make_name(upstream.distribution, upstream.version, upstream.tag, str(release.build))
    lock = make_lock(release, spec.provider)
    provenance = _bindings_provenance(spec, upstream, digest)
    text = metadata.add_extras(read_text(unpacked, f"{name.dist_info}/METADATA"), backends, release.version)
    generated = {
        f"{name.distribution}/{LOCK_FILENAME}": lock.to_json(),
        f"{name.dist_info}/METADATA": text,
        f"{name.dist_info}/WHEEL": metadata.wheel_metadata(name),
        f"{name.dist_info}/sboms/{SBOM_FILENAME}": format_sbom(name, provenance),
    }
    prepared = [
        prepare_member(
            member.path,
            member.file,
            wheel=spec.wheel.name,
            machine=spec.platform.elf_machine,
            executable=member.executable,
        )
        for member in unpacked
        if member.path not in generated
    ]
    members = (*prepared, *_texts(generated))
    return WheelPlan(name, members, text, lock.lock_id, spec.provider, provenance)


def _texts(contents: dict[str, str]) -> Iterator[Prepared]:
    """Yield the members that are written here."""
    return (Prepared(text_member(path, content)) for path, content in contents.items())


def _read_backend(path: Path) -> Backend:
    """Read a backend file."""
    return parse_backend(path.read_text("utf-8"), path)


def _read_provenance(path: Path) -> dict[str, Any]:
    """Read where a library came from."""
    try:
        provenance = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise WheelError(f"not a JSON file: {path}", cause=str(error)) from error
    if not isinstance(provenance, dict):
        raise WheelError(f"{path} holds a {type(provenance).__name__}, expected an object")
    return provenance


def _check_pin(spec: BindingsSpec, release: Release) -> str:
    """Return the digest of upstream's wheel, which must be the pinned one if it bears its name.

    In source mode the bindings are not pinned by file.
    """
    with spec.wheel.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    pin = release.pins.get(f"bindings.{spec.python}.{spec.platform.name}")
    if pin and pin.filename == spec.wheel.name and pin.sha256 != digest:
        raise WheelError(
            f"{spec.wheel.name} has sha256 {digest}, pinned is {pin.sha256}",
            cause="the file was damaged or replaced",
            remedy="remove it from the cache and fetch it again",
        )
    return digest


def _bindings_provenance(spec: BindingsSpec, upstream: WheelName, digest: str) -> dict[str, Any]:
    """Describe upstream's wheel in the form in which providers describe a library."""
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
