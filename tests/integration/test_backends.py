# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of accelerators out of the real build: what is in them, and what was done for them.

Two backends that share a directory show what all of them go through; the one that carries no library is the exception.
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.abis import extension_suffix
from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.bazel.invoke import BuildRequest, build
from pjrtwheel.bazel.workspace import lock_builds
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name

pytestmark = pytest.mark.integration

PLATFORM = "linux_x86_64"
STUB = "tests/data/stub_xla/xla/xla/pjrt/c/stub_plugin.c"


@pytest.fixture(params=["cuda12", "tpu"])
def backend(request: pytest.FixtureRequest, root: Path) -> Backend:
    """Return one accelerator after the other."""
    return find_backend(root, request.param)


@pytest.fixture
def wheel(backend: Backend, backend_wheels: Callable[[str], Path]) -> Path:
    """Return the accelerator's wheel."""
    (found,) = backend_wheels(backend.name).glob(f"{backend.package}-*.whl")
    return found


def test_provenance_names_every_pinned_file(backend: Backend, wheel: Path, release: Release) -> None:
    """Each wheel says which file of the index its library, or its kernels for one Python, are from."""
    provenance = read_provenance(wheel, backend.package)
    assert provenance["sha256"] == release.pin(f"plugin.{backend.name}.{PLATFORM}").sha256
    found = {}
    for kernels in wheel.parent.glob(f"{backend.kernels_package}-*.whl"):
        origin = read_provenance(kernels, backend.kernels_package)
        found[f"kernels.{backend.name}.{origin['python']}.{PLATFORM}"] = origin["sha256"]
        with zipfile.ZipFile(kernels) as archive:
            ours = [name for name in archive.namelist() if name.startswith("jax_")]
        # As no file may collide with one of upstream's package of the same name.
        suffix = extension_suffix(origin["python"], "x86_64")
        assert ours == [name for name in ours if name.endswith(suffix)] != []
    assert found == {key: pin.sha256 for key, pin in release.pins.items() if key in found}
    assert bool(found) == (backend.kernels is not None)


def read_provenance(wheel: Path, package: str) -> dict[str, Any]:
    """Return what a wheel says of its origin."""
    with zipfile.ZipFile(wheel) as archive:
        found: dict[str, Any] = json.loads(archive.read(f"{package}/provenance.json"))
    return found


def test_library_of_ones_own_takes_the_pinned_kernels(
    root: Path, backend_wheels: Callable[[str], Path], compile_library: Callable[..., Path], release: Release
) -> None:
    """`--xla PATH` replaces the library alone: of the kernels, only the lock differs."""
    pinned = sorted(backend_wheels("cuda12").glob("jaxlib_cuda_12_kernels-*.whl"))
    cuda12 = find_backend(root, "cuda12")
    mosaic = root / "tests/data/stub_xla/jax/jax_plugins/cuda/stub_mosaic.c"
    library = compile_library("own.so", root / STUB, mosaic)
    pythons = tuple(parse_name(wheel.name).tag.partition("-")[0] for wheel in pinned)
    platform = PLATFORMS[PLATFORM]
    request = BuildRequest(root, release, (cuda12,), platform, "file", library, with_bindings=False, pythons=pythons)
    with lock_builds(root, cache_root()):
        plugin, *kernels = (wheel.path for wheel in build(request).wheels)
    assert [wheel.name for wheel in kernels] == [wheel.name for wheel in pinned]
    for wheels in zip(pinned, kernels, strict=True):
        theirs, ours = (
            {i.filename: i.CRC for i in zipfile.ZipFile(wheel).infolist() if ".dist-info/" not in i.filename}
            for wheel in wheels
        )
        assert {name for name, _ in theirs.items() ^ ours.items()} == {"jaxlib_cuda_12_kernels/release_lock.json"}
    assert read_provenance(plugin, "jaxlib_cuda_12")["provider"].startswith("file-")
