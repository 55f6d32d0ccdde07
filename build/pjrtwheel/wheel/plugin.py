# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Plan the wheels of one backend: loader and library, kernels, and the files that are derived from them.

Kernels are extension modules of upstream's in the package where JAX imports them from, each under the suffix by which
CPython finds its own (PEP 3149). The rest of their wheel is in a package of our own, without a file of upstream's.
"""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from pjrtwheel.abis import extension_suffix, plugin_tag
from pjrtwheel.backend import FILENAME, Backend, parse_backend
from pjrtwheel.elf.image import read_image
from pjrtwheel.elf.search_paths import LibraryPlace
from pjrtwheel.errors import WheelError
from pjrtwheel.gpucode import GPU_CODE_FILENAME, GpuCode
from pjrtwheel.gpucode.reader import read_gpu_code
from pjrtwheel.release.model import Override, Release, read_release
from pjrtwheel.release.wheels import LOCK_FILENAME, ReleaseLock, make_lock
from pjrtwheel.tables import TableError, read_json, write_json
from pjrtwheel.wheel import metadata
from pjrtwheel.wheel.names import WheelName, make_name, parse_name
from pjrtwheel.wheel.plan import BackendSpec, KernelsSpec, MemberSource, PluginSpec, WheelPlan, file_source, text_source
from pjrtwheel.wheel.sbom import SBOM_FILENAME, format_sbom


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What the wheels of a backend are planned from."""

    spec: BackendSpec
    release: Release
    backend: Backend
    lock: ReleaseLock

    @property
    def override(self) -> Override | None:
        """The decision to take what was built elsewhere from another version, if there is one."""
        return self.release.override(self.backend.name) if self.spec.provider == "prebuilt" else None


def plan_plugin(spec: PluginSpec, files: ExitStack) -> WheelPlan:
    """Plan the plugin wheel of one backend; `files` closes the inputs after it is written.

    Raises:
        ElfError: A library is not what the wheel needs.
        WheelError: The specification does not fit the backend.
    """
    inputs = _read_inputs(spec)
    backend = inputs.backend
    platform = spec.platform.name
    if platform not in backend.tags:
        raise WheelError(f"{backend.path} has no wheel tag for {platform}")
    tag = plugin_tag(backend.python_tag, backend.tags[platform])
    name = make_name(backend.distribution, inputs.lock.version, tag)
    generated = {
        f"{backend.package}/{module}": text for module, text in generate_modules(backend, spec.provider).items()
    }
    generated[f"{backend.package}/{FILENAME}"] = spec.backend.read_text("utf-8")  # for proofs of this wheel alone
    generated[f"{name.dist_info}/entry_points.txt"] = metadata.entry_points(backend)
    release = inputs.release
    requires = metadata.plugin_requires(name, backend, release, inputs.lock.requirement, spec.requirement)
    readme = spec.readme.read_text("utf-8") + metadata.describe_override(inputs.override, release.version)
    generated[f"{name.dist_info}/METADATA"] = metadata.core_metadata(
        name, backend, backend.summary, requires, licenses=spec.licenses, readme=readme
    )
    return _plan(inputs, name, backend.package, spec.files, generated, files)


def plan_kernels(spec: KernelsSpec, files: ExitStack) -> WheelPlan:
    """Plan a wheel with the kernels of one backend for one Python; see `plan_plugin`."""
    inputs = _read_inputs(spec)
    backend, kernels = inputs.backend, inputs.backend.kernels
    if kernels is None:
        raise WheelError(f"{backend.path} says nothing of kernels")
    pin = inputs.release.pin(f"kernels.{backend.name}.{spec.python}.{spec.platform.name}")
    name = make_name(backend.kernels_distribution, inputs.lock.version, parse_name(pin.filename).tag)
    package, suffix = backend.kernels_package, extension_suffix(spec.python, spec.platform.architecture)
    placed = {
        f"{kernels.package}/{path.stem}{suffix}" if _is_module(path, spec) else f"{package}/{file}": path
        for file, path in spec.files.items()
    }
    generated = {
        f"{package}/__init__.py": f'{_HEADER}"""What goes with the kernels of {backend.distribution}."""\n',
        f"{name.dist_info}/METADATA": metadata.kernels_metadata(name, backend, licenses=spec.licenses),
    }
    return _plan(inputs, name, package, placed, generated, files)


def _read_inputs(spec: BackendSpec) -> _Inputs:
    release, backend = read_release(spec.release), parse_backend(spec.backend.read_text("utf-8"), spec.backend)
    return _Inputs(spec, release, backend, spec.lock or make_lock(release, spec.provider))


def _is_module(path: Path, spec: KernelsSpec) -> bool:
    """Whether a kernel is an extension module, and not a library that these need."""
    with path.open("rb") as file:
        image = read_image(file, f"{path.name}, a kernel for {spec.python},", machine=spec.platform.machine)
    return f"PyInit_{path.stem}" in image.exports


def _plan(
    inputs: _Inputs,
    name: WheelName,
    package: str,
    placed: Mapping[str, Path],
    generated: Mapping[str, str],
    files: ExitStack,
) -> WheelPlan:
    """Plan a wheel, with what every wheel of a backend has: licences, and documents in a package of its own."""
    spec, backend, lock = inputs.spec, inputs.backend, inputs.lock
    on_disk = {**placed, **{f"{name.dist_info}/licenses/{file}": path for file, path in spec.licenses.items()}}
    provenance = _read_provenance(spec.provenance)
    if inputs.override:
        provenance["override"] = {"version": inputs.override.version, "reason": inputs.override.reason}
    has_symbols = provenance.get("options", {}).get("debug_symbols", False)
    sources = [_open(member, path, inputs, name, files, symbols=has_symbols) for member, path in on_disk.items()]
    libraries = {source.path: on_disk[source.path] for source in sources if source.is_library}
    gpu_list = f"{package}/{GPU_CODE_FILENAME}"
    bundled = backend.prebuilt.bundled or package != backend.package
    written = {
        **generated,
        f"{package}/{LOCK_FILENAME}": lock.to_json(),
        f"{package}/{metadata.PROVENANCE_FILENAME}": write_json(provenance),
        f"{name.dist_info}/WHEEL": metadata.wheel_metadata(name),
        f"{name.dist_info}/sboms/{SBOM_FILENAME}": format_sbom(name, provenance, bundled=bundled),
    }
    twice = sorted({*written, gpu_list} & on_disk.keys())
    if twice:
        raise WheelError(f"the manifest gives {', '.join(twice)}, which assembly writes itself")
    return WheelPlan(
        name=name,
        members=(*sources, *(text_source(path, content) for path, content in written.items())),
        metadata=written[f"{name.dist_info}/METADATA"],
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
    pool = files.enter_context(ThreadPoolExecutor())
    codes = {member: pool.submit(read_gpu_code, path, tools) for member, path in libraries.items()}
    return lambda: {member: code.result() for member, code in codes.items() if code.result().names()}


def _open(
    member: str, path: Path, inputs: _Inputs, name: WheelName, files: ExitStack, *, symbols: bool
) -> MemberSource:
    spec, backend = inputs.spec, inputs.backend
    return file_source(
        member,
        files.enter_context(path.open("rb")),
        wheel=name.filename,
        machine=spec.platform.machine,
        exports=backend.exports if member == f"{backend.package}/{backend.library}" else (),
        place=LibraryPlace(member.count("/"), backend.search_paths, symbols),
    )


def _read_provenance(path: Path) -> dict[str, Any]:
    try:
        return read_json(dict[str, Any], path.read_text("utf-8"))
    except TableError as error:
        raise WheelError(f"no provenance: {path}", cause=str(error)) from error


_HEADER = """# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""


def generate_modules(backend: Backend, provider: str) -> dict[str, str]:
    """Return the modules that follow from a backend's facts and its provider: file name in its package → text."""
    facts = {
        "pjrt_name": backend.pjrt_name,
        "distribution": backend.distribution,
        "library": backend.library,
        "disable": backend.disable,
        "provider": provider.partition("-")[0],
    }
    values = {name: json.dumps(value) for name, value in facts.items()} | {"compilers": repr(backend.aot_requires)}
    values |= {"directory": backend.name, "package": backend.package, "kernels_import": "", "kernels": ""}
    if backend.kernels is not None:
        # Upstream calls the module of the kernels that registers targets after the platform.
        names = map(json.dumps, (backend.kernels.package, f"{backend.pjrt_name}_plugin_extension"))
        values["kernels_import"] = "from .pjrt.kernels import Kernels\n"
        values["kernels"] = f"\nKERNELS = Kernels({', '.join(names)})\n"
    templates = sorted(Path(__file__).with_name("modules").glob("*.in"))
    return {path.stem: Template(path.read_text("utf-8")).substitute(values) for path in templates}
