# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Plan the wheel of one backend: loader, library and kernels, and the files that are derived from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pjrtwheel.abis import plugin_tag
from pjrtwheel.backend import Backend, parse_backend
from pjrtwheel.elf import LibraryPlace
from pjrtwheel.errors import WheelError
from pjrtwheel.gpucode import GPU_CODE_FILENAME, GpuCode, read_gpu_code
from pjrtwheel.release.lock import LOCK_FILENAME, ReleaseLock, make_lock
from pjrtwheel.release.model import Override, Release, read_release
from pjrtwheel.tables import TableError, read_json, write_json
from pjrtwheel.wheel import metadata
from pjrtwheel.wheel.deflate.compress import worker_count
from pjrtwheel.wheel.names import WheelName, make_name
from pjrtwheel.wheel.sbom import SBOM_FILENAME, format_sbom
from pjrtwheel.wheel.write.kernels import place_kernels
from pjrtwheel.wheel.write.loader import generate_modules
from pjrtwheel.wheel.write.manifest import PluginSpec
from pjrtwheel.wheel.write.plan import MemberSource, WheelPlan, file_source, text_source


def plan_plugin(spec: PluginSpec, files: ExitStack) -> WheelPlan:
    """Plan the wheel of one backend; `files` closes the inputs after it is written.

    Raises:
        ElfError: A library is not what the wheel needs.
        WheelError: The specification does not fit the backend.
    """
    release, backend = read_release(spec.release), parse_backend(spec.backend.read_text("utf-8"), spec.backend)
    lock = _choose_lock(spec, release)
    name = _check(spec, backend, release, lock.version)
    override = release.override(backend.name) if spec.provider == "prebuilt" else None
    text = metadata.plugin_metadata(
        name,
        backend,
        release=release,
        licenses=spec.licenses,
        readme=spec.readme.read_text("utf-8") + metadata.describe_override(override, release.version),
        requirement=spec.requirement,
    )
    on_disk = spec.files | place_kernels(spec.kernels, backend, spec.platform, release)
    on_disk |= {f"{name.dist_info}/licenses/{file}": path for file, path in spec.licenses.items()}
    sources = [_open(member, path, spec, backend, name, files) for member, path in on_disk.items()]
    libraries = {source.path: on_disk[source.path] for source in sources if source.is_library}
    gpu_list = f"{backend.package}/{GPU_CODE_FILENAME}"
    provenance = _read_provenance(spec.provenance) | _describe_override(override)
    generated = _generate(name, backend, lock, provenance) | {f"{name.dist_info}/METADATA": text}
    twice = sorted({*generated, gpu_list} & on_disk.keys())
    if twice:
        raise WheelError(f"the manifest gives {', '.join(twice)}, which assembly writes itself")
    return WheelPlan(
        name=name,
        members=(*sources, *(text_source(path, content) for path, content in generated.items())),
        metadata=text,
        lock_id=lock.lock_id,
        provider=spec.provider,
        provenance=provenance,
        gpu_list=gpu_list,
        gpu_files=_read_codes(libraries, spec.tools, files),
    )


def _read_codes(
    libraries: Mapping[str, Path], tools: Mapping[str, Path], files: ExitStack
) -> Callable[[], dict[str, GpuCode]]:
    """Begin to read for which chips each library holds code; the result waits for it. See `WheelPlan.gpu_files`."""
    # Most of the time passes in the vendors' programs.
    pool = files.enter_context(ThreadPoolExecutor(worker_count()))
    codes = {member: pool.submit(read_gpu_code, path, tools) for member, path in libraries.items()}
    return lambda: {member: code.result() for member, code in codes.items() if code.result().names()}


def _choose_lock(spec: PluginSpec, release: Release) -> ReleaseLock:
    """Return the lock of the published set that the wheel is for, or else of the set that is built here."""
    if spec.lock is None:
        return make_lock(release, spec.provider)
    if spec.lock.release != release.version:
        raise WheelError(f"the manifest has a lock of release {spec.lock.release}, expected {release.version}")
    return spec.lock


def _check(spec: PluginSpec, backend: Backend, release: Release, version: str) -> WheelName:
    platform = spec.platform.name
    if platform not in backend.tags:
        raise WheelError(f"{backend.path} has no wheel tag for {platform}")
    bundled, library = backend.prebuilt.bundled, f"{backend.package}/{backend.library}"
    cause = f"{backend.path} says that it is {'' if bundled else 'not '}bundled"
    if (library in spec.files) != bundled:
        raise WheelError(f"the manifest has {'no ' if bundled else ''}{library!r}", cause=cause)
    if bool(metadata.find_requirement([spec.requirement], backend.prebuilt.project)) == bundled:
        raise WheelError(f"the manifest requires {spec.requirement or 'nothing'!r} for the plugin library", cause=cause)
    if backend.kernels and release.kernels(backend.name, platform) and spec.provider == "prebuilt" and not spec.kernels:
        raise WheelError(f"the manifest has no kernels, although release {release.version} has some for {platform}")
    return make_name(backend.distribution, version, plugin_tag(backend.python_tag, backend.tags[platform]))


def _open(
    member: str, path: Path, spec: PluginSpec, backend: Backend, name: WheelName, files: ExitStack
) -> MemberSource:
    return file_source(
        member,
        files.enter_context(path.open("rb")),
        wheel=name.filename,
        machine=spec.platform.machine,
        exports=backend.exports if member == f"{backend.package}/{backend.library}" else (),
        place=LibraryPlace(member.count("/"), backend.search_paths),
    )


def _generate(name: WheelName, backend: Backend, lock: ReleaseLock, provenance: Mapping[str, Any]) -> dict[str, str]:
    return {
        **{f"{backend.package}/{module}": text for module, text in generate_modules(backend).items()},
        f"{backend.package}/{LOCK_FILENAME}": lock.to_json(),
        f"{backend.package}/{metadata.PROVENANCE_FILENAME}": write_json(provenance),
        f"{name.dist_info}/WHEEL": metadata.wheel_metadata(name),
        f"{name.dist_info}/entry_points.txt": metadata.entry_points(backend),
        f"{name.dist_info}/sboms/{SBOM_FILENAME}": format_sbom(name, provenance, bundled=backend.prebuilt.bundled),
    }


def _describe_override(override: Override | None) -> dict[str, Any]:
    return {"override": {"version": override.version, "reason": override.reason}} if override else {}


def _read_provenance(path: Path) -> dict[str, Any]:
    try:
        return read_json(dict[str, Any], path.read_text("utf-8"))
    except TableError as error:
        raise WheelError(f"no provenance: {path}", cause=str(error)) from error
