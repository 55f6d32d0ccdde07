# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The files that a release takes from the package index for one backend, on disk, and the manifests made of them."""

import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.known import choose_release
from pjrtwheel.release.model import Release

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is measured on: upstream's wheels and the libraries in them, kernels by Python tag, and tools by name."""

    backend: Backend
    release: Release
    platform: str
    plugin_wheel: Path
    library: Path
    kernel_wheels: dict[str, Path]
    kernels: dict[str, list[Path]]
    tools: dict[str, Path]


def fetch(release: Release, key: str) -> Path:
    """Return a pinned file, by way of the cache."""
    return WheelCache(cache_root(os.environ), download_wheel).fetch(release.pin(key))


def read_inputs(backend_name: str, platform: str, directory: Path) -> Inputs:
    """Fetch what is pinned for a backend and put its libraries and tools on disk."""
    backend = find_backend(ROOT, backend_name)
    release = choose_release(ROOT, None, backend.name, platform)
    if not backend.prebuilt.bundled:
        raise SystemExit(f"{backend.distribution} has no library to measure on")
    wheel = fetch(release, f"plugin.{backend.name}.{platform}")
    wheels = {
        python: fetch(release, f"kernels.{backend.name}.{python}.{platform}")
        for python in release.kernels(backend.name, platform)
    }
    return Inputs(
        backend=backend,
        release=release,
        platform=platform,
        plugin_wheel=wheel,
        library=_extract(wheel, directory / "upstream", [backend.prebuilt.member])[0],
        kernel_wheels=wheels,
        kernels={python: _extract(path, directory / python, _libraries(path)) for python, path in wheels.items()},
        tools={
            name: _extract(fetch(release, f"tool.{name}.{host_platform().name}"), directory / name, [tool.member])[0]
            for name, tool in backend.tools.items()
        },
    )


def write_manifests(inputs: Inputs, directory: Path) -> list[Path]:
    """Write the manifest of a plugin wheel with nothing but the library, and that of its kernels for one Python."""
    package, readme = inputs.backend.package, directory / "README.md"
    directory.mkdir(parents=True)
    (directory / "__init__.py").write_text("")
    readme.write_text("# Measured\n")
    files = {f"{package}/__init__.py": directory / "__init__.py", f"{package}/{inputs.backend.library}": inputs.library}
    found = [_write_backend_manifest(inputs, directory / "plugin.json", files, kind="plugin", readme=str(readme))]
    for python, paths in list(inputs.kernels.items())[:1]:
        named = {path.name: path for path in paths}
        found.append(_write_backend_manifest(inputs, directory / "kernels.json", named, kind="kernels", python=python))
    return found


def _write_backend_manifest(inputs: Inputs, path: Path, files: Mapping[str, Path], **facts: str) -> Path:
    provenance = path.with_name("provenance.json")
    provenance.write_text("{}")
    return _write_manifest(
        inputs,
        path,
        backend=str(inputs.backend.path),
        provider="prebuilt",
        provenance=str(provenance),
        files={member: str(file) for member, file in files.items()},
        licenses={"LICENSE": str(ROOT / "LICENSE")},
        tools={name: str(tool) for name, tool in inputs.tools.items()},
        **facts,
    )


def write_bindings_manifest(inputs: Inputs, python: str, directory: Path) -> Path:
    """Write the manifest of our `jaxlib` for one Python."""
    return _write_manifest(
        inputs,
        directory / "bindings.json",
        kind="bindings",
        provider="prebuilt",
        python=python,
        wheel=str(fetch(inputs.release, f"bindings.{python}.{inputs.platform}")),
        backends=[str(inputs.backend.path)],
    )


def installed_size(wheels: Iterable[Path]) -> int:
    """Return the length of all files in some wheels together."""
    total = 0
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            total += sum(info.file_size for info in archive.infolist())
    return total


def compressed_size(wheel: Path, suffix: str) -> int:
    """Return how much room a member takes in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (size,) = (info.compress_size for info in archive.infolist() if info.filename.endswith(suffix))
    return size


def _write_manifest(inputs: Inputs, path: Path, **facts: object) -> Path:
    """Write a manifest with what all kinds have in common."""
    common = {"schema": 1, "platform": inputs.platform, "release": str(inputs.release.path)}
    path.write_text(json.dumps(common | facts))
    return path


def _libraries(wheel: Path) -> list[str]:
    """Return the members of a wheel that are libraries."""
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if name.endswith(".so")]


def _extract(wheel: Path, directory: Path, members: Iterable[str]) -> list[Path]:
    """Put members of a wheel on disk, with the right to execute them."""
    with zipfile.ZipFile(wheel) as archive:
        paths = [Path(archive.extract(member, directory)) for member in members]
    for path in paths:
        path.chmod(0o755)
    return paths
