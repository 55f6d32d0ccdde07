# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of accelerators out of the real build: what is in them, and what was done for them.

Two backends that share a directory show what all of them go through; the one that carries no library is the exception.
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.bazel.invoke import BuildRequest, build
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.model import Release

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
    """The wheel says of its library and of the kernels of each Python which file of the index they are from."""
    with zipfile.ZipFile(wheel) as archive:
        provenance = json.loads(archive.read(f"{backend.package}/provenance.json"))
        names = archive.namelist()
    pins = {
        python: release.pin(f"kernels.{backend.name}.{python}.{PLATFORM}").sha256
        for python in release.kernels(backend.name, PLATFORM)
    }
    assert provenance["sha256"] == release.pin(f"plugin.{backend.name}.{PLATFORM}").sha256
    assert {entry["python"]: entry["sha256"] for entry in provenance["kernels"]} == pins
    # As nothing of Python's may collide with upstream's package of the same name.
    if backend.kernels:
        ours = [name for name in names if name.startswith(f"{backend.kernels.package}/")]
        assert (bool(ours), [name for name in ours if name.endswith(".py")]) == (True, [])


def test_library_of_ones_own_takes_the_pinned_kernels(
    root: Path, backend_wheels: Callable[[str], Path], compile_library: Callable[..., Path], release: Release
) -> None:
    """`--xla PATH` replaces the library alone."""
    (pinned,) = backend_wheels("cuda12").glob("jaxlib_cuda_12-*.whl")
    library = compile_library("own.so", root / STUB)
    cuda12 = find_backend(root, "cuda12")
    request = BuildRequest(root, release, (cuda12,), PLATFORMS[PLATFORM], "file", library, with_bindings=False)
    (built,) = build(request).wheels
    with zipfile.ZipFile(pinned) as theirs, zipfile.ZipFile(built.path) as ours:
        kernels = [
            {i.filename: i.CRC for i in wheel.infolist() if i.filename[:4] == "jax_"} for wheel in (theirs, ours)
        ]
        provenance = json.loads(ours.read("jaxlib_cuda_12/provenance.json"))
    assert kernels[0]
    assert kernels[0] == kernels[1]
    assert provenance["provider"].startswith("file-")
    assert [entry["python"] for entry in provenance["kernels"]] == list(release.kernels("cuda12", PLATFORM))
