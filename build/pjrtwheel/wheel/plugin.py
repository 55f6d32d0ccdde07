# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Plan the wheel of one backend: loader, library and kernels, and the files that are derived from them.

Kernels are extension modules in the one package where JAX imports them from, each under the suffix by which CPython
finds its own (PEP 3149). Libraries that are no modules are the same for every Python, and are packed once.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pjrtwheel.abis import extension_suffix, plugin_tag
from pjrtwheel.backend import Backend, Kernels, parse_backend
from pjrtwheel.elf.image import read_image
from pjrtwheel.elf.repair import LibraryPlace
from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.gpucode import GPU_CODE_FILENAME, GpuCode
from pjrtwheel.gpucode.reader import read_gpu_code
from pjrtwheel.platforms import Platform
from pjrtwheel.release.model import Override, Release, read_release
from pjrtwheel.release.wheels import LOCK_FILENAME, ReleaseLock, make_lock
from pjrtwheel.tables import TableError, read_json, write_json
from pjrtwheel.wheel import metadata
from pjrtwheel.wheel.compress import worker_count
from pjrtwheel.wheel.names import WheelName, make_name
from pjrtwheel.wheel.plan import MemberSource, PluginSpec, WheelPlan, file_source, text_source
from pjrtwheel.wheel.sbom import SBOM_FILENAME, format_sbom


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


_Files = Mapping[str, Path]


def place_kernels(
    kernels: Mapping[str, Sequence[Path]], backend: Backend, platform: Platform, release: Release
) -> dict[str, Path]:
    """Return the members of a wheel that its kernels become: path in the wheel → file on disk.

    The kernels are libraries by Python tag, those of that Python's wheel; empty for none at all.

    Raises:
        ElfError: A file is no library for the platform.
        WheelError: The Pythons are not those that the release has kernels for, or differ in what they have.
    """
    if not kernels:
        return {}
    table = _check_pythons(kernels, backend, release.kernels(backend.name, platform.name))
    sorted_out = {python: _sort_out(paths, python, platform) for python, paths in kernels.items()}
    modules = {python: found[0] for python, found in sorted_out.items()}
    libraries = {python: found[1] for python, found in sorted_out.items()}
    _check_same_names(modules, "modules")
    _check_same_names(libraries, "libraries")
    shared = next(iter(libraries.values()))
    _check_same_bytes(shared, libraries)
    return {f"{backend.package}/{name}": path for name, path in shared.items()} | {
        f"{table.package}/{stem}{extension_suffix(python, platform.architecture)}": path
        for python, files in modules.items()
        for stem, path in files.items()
    }


def _check_pythons(kernels: Mapping[str, Sequence[Path]], backend: Backend, expected: Sequence[str]) -> Kernels:
    if backend.kernels is None or set(kernels) != set(expected):
        raise WheelError(
            f"kernels are for {', '.join(sorted(kernels))}, expected {', '.join(expected) or 'none'}",
            cause="the release file says for which Pythons there are kernels",
        )
    return backend.kernels


def _sort_out(paths: Sequence[Path], python: str, platform: Platform) -> tuple[_Files, _Files]:
    """Return the extension modules by name, and the other libraries by file name."""
    modules: dict[str, Path] = {}
    libraries: dict[str, Path] = {}
    for path in sorted(paths, key=lambda path: path.name):
        stem = path.name.partition(".")[0]
        with path.open("rb") as file:
            image = read_image(file, f"{path.name}, a kernel for {python},", machine=platform.machine)
        known, name = (modules, stem) if f"PyInit_{stem}" in image.exports else (libraries, path.name)
        if name in known:
            raise WheelError(f"two kernels for {python} are called {name!r}: {known[name]} and {path}")
        known[name] = path
    return modules, libraries


def _check_same_names(found: Mapping[str, _Files], what: str) -> None:
    every = {name for files in found.values() for name in files}
    missing = [f"{name} for {python}" for python, files in found.items() for name in sorted(every - set(files))]
    if missing:
        raise WheelError(
            f"not every Python has the same {what}: there is no {', no '.join(missing)}",
            cause="the kernels come from wheels of different builds",
        )


def _check_same_bytes(shared: _Files, libraries: Mapping[str, _Files]) -> None:
    """Refuse a library that would be packed once, but differs between the Pythons."""
    for name, path in shared.items():
        digests = {python: hash_file(files[name]) for python, files in libraries.items()}
        others = [python for python, digest in digests.items() if digest != hash_file(path)]
        if others:
            first = next(iter(libraries))
            raise WheelError(
                f"{name} for {', '.join(others)} has other bytes than for {first}",
                cause="a library that is no extension module is packed once, for every Python",
            )


_HEADER = """# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""

_BACKEND = '''"""What this wheel is: written from `plugins/{directory}/backend.toml` when the wheel was assembled."""

from __future__ import annotations

from pathlib import Path

{imports}

PLUGIN = Plugin(
    name={pjrt_name},
    distribution={distribution},
    package=Path(__file__).parent,
    library={library},
    disable_variable={disable},
)
'''

# Upstream calls the module of the kernels that registers targets after the platform.
_KERNELS = """
KERNELS = Kernels({package}, {extension})
"""

_MAIN = '''"""`python -m {package}`: say what this plugin is, and whether it fits here."""

from __future__ import annotations

import sys

from . import backend
from .pjrt.command import run

if __name__ == "__main__":
    sys.exit(run(backend.PLUGIN, sys.modules[backend.__package__], sys.argv[1:]))
'''


def generate_modules(backend: Backend) -> dict[str, str]:
    """Return the modules that follow from a backend's facts: file name in its package → text."""
    imports = "from .pjrt.kernels import Kernels\n" if backend.kernels is not None else ""
    text = _HEADER + _BACKEND.format(
        directory=backend.name,
        imports=f"{imports}from .pjrt.plugin import Plugin",
        pjrt_name=json.dumps(backend.pjrt_name),
        distribution=json.dumps(backend.distribution),
        library=json.dumps(backend.library),
        disable=json.dumps(backend.disable),
    )
    if backend.kernels is not None:
        extension = f"{backend.pjrt_name}_plugin_extension"
        text += _KERNELS.format(package=json.dumps(backend.kernels.package), extension=json.dumps(extension))
    return {"__main__.py": _HEADER + _MAIN.format(package=backend.package), "backend.py": text}
