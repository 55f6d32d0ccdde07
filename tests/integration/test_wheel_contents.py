# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""All that is in the wheels which no machine here can run: members, metadata, GPU code, search paths."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.lock import make_lock
from pjrtwheel.release import Release
from pjrtwheel.verify.contents import WheelContents, read_contents
from pjrtwheel.verify.libraries import read_library
from pjrtwheel.verify.locks import find_lock

pytestmark = pytest.mark.integration

PLATFORM = "linux_x86_64"
EXTENSION = "pjrt/_pjrt.abi3.so"
GFX = """gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1010 gfx1011 gfx1012 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034
gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1200 gfx1201"""
SDK = """gfx950_dcgpu gfx94X_dcgpu gfx90a gfx90X_dcgpu gfx908 gfx906 gfx900 gfx120X_all gfx1153 gfx1152 gfx1151 gfx1150
gfx110X_all gfx103X_all gfx101X_dgpu"""


@dataclass(frozen=True, slots=True)
class Upstream:
    """What a wheel has from upstream's of the same release.

    Attributes:
        kernels: Name of a module → whether it holds GPU code.
        code: The chips of that code, as in the plugin library.
        search_path: Where the library and the kernels look for those of the vendor.
    """

    kernels: dict[str, bool]
    code: tuple[str, ...]
    search_path: tuple[str, ...]


UPSTREAM = {
    "oneapi": Upstream(
        dict.fromkeys(("_hybrid", "_linalg", "_prng", "_solver", "oneapi_plugin_extension"), True),
        ("spir64",),
        ("$ORIGIN/../../..",),
    ),
    "rocm7": Upstream(
        dict.fromkeys(("_linalg", "_prng", "_solver"), True)
        | dict.fromkeys(("_hybrid", "_rnn", "_sparse", "_triton", "rocm_plugin_extension"), False),
        tuple(GFX.split()),
        (
            "$ORIGIN/../rocm/lib",
            "$ORIGIN/../_rocm_sdk_core/lib",
            "$ORIGIN/../_rocm_sdk_libraries/lib",
            *(f"$ORIGIN/../_rocm_sdk_libraries_{chips}/lib" for chips in SDK.split()),
            "/opt/rocm/lib",
        ),
    ),
    "tpu": Upstream({}, (), ()),
}


@pytest.fixture(params=UPSTREAM)
def backend(request: pytest.FixtureRequest, root: Path) -> Backend:
    """Return one accelerator after the other."""
    return find_backend(root, request.param)


@pytest.fixture(scope="module")
def read_wheel(
    root: Path, backend_wheels: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], WheelContents]:
    """Return a function: name of a backend → its wheel, read and its libraries unpacked."""

    @functools.cache
    def read(name: str) -> WheelContents:
        (wheel,) = backend_wheels(name).glob(f"{find_backend(root, name).package}-*.whl")
        return read_contents(wheel, tmp_path_factory.mktemp(f"contents_{name}"))

    return read


@pytest.fixture
def wheel(backend: Backend, read_wheel: Callable[[str], WheelContents]) -> WheelContents:
    """Return the accelerator's wheel."""
    return read_wheel(backend.name)


def place_modules(backend: Backend) -> dict[str, bool]:
    """Return each library that is upstream's, and whether it holds GPU code."""
    places = {f"{backend.package}/{backend.library}": True} if backend.prebuilt.bundled else {}
    if backend.kernels is None:
        return places
    for python in backend.kernels.pythons:
        folder, suffix = backend.kernels.package, f"cpython-{python.removeprefix('cp')}-x86_64-linux-gnu.so"
        places |= {f"{folder}/{stem}.{suffix}": coded for stem, coded in UPSTREAM[backend.name].kernels.items()}
    return places


def test_nothing_is_missing_and_nothing_is_too_much(backend: Backend, wheel: WheelContents, root: Path) -> None:
    """The loader as it lies in the repository, the library and the kernels, the documents, the metadata."""
    package, info = backend.package, wheel.dist_info
    folder, shared = root / "plugins" / backend.name / package, root / "plugins/pjrt"
    loader = {f"{package}/{path.name}" for path in folder.glob("*.py")}
    loader |= {f"{package}/pjrt/{path.name}" for path in [*shared.glob("loader/*.py"), *shared.glob("*.pyi")]}
    documents = {"provenance.json", "release_lock.json", EXTENSION, *(["gpu_code.json"] if backend.kernels else [])}
    metadata = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "sboms/pjrtwheel.cdx.json"}
    assert set(wheel.members) == {
        *loader,
        *place_modules(backend),
        *(f"{package}/{name}" for name in documents),
        *(f"{info}/{name}" for name in metadata),
    }


def test_metadata_says_what_the_backend_file_does(backend: Backend, wheel: WheelContents, release: Release) -> None:
    """All requirements, with and without an extra, and where JAX finds the loader."""
    headers, plugin = wheel.headers("METADATA"), release.pin(f"plugin.{backend.name}.{PLATFORM}")
    assert headers.get_all("Requires-Dist") == [
        f"jaxlib=={release.version}",
        *([] if backend.prebuilt.bundled else [f"{plugin.project}=={plugin.version}"]),
        *(f'{need}; extra == "{extra}"' for extra, needs in backend.extras.items() for need in needs),
    ]
    assert headers.get_all("Provides-Extra", []) == list(backend.extras)
    entry_points = wheel.texts[f"{wheel.dist_info}/entry_points.txt"]
    assert entry_points == f"[jax_plugins]\n{backend.pjrt_name} = {backend.package}\n"


def test_lock_is_that_of_the_release(backend: Backend, wheel: WheelContents, release: Release) -> None:
    """Whoever computes it gets the same; the bindings have it, too, as verification has seen to."""
    assert find_lock(wheel.texts) == (
        f"{backend.package}/release_lock.json",
        make_lock(release, "prebuilt").to_json(),
    )


def test_gpu_code_is_that_of_the_release(backend: Backend, wheel: WheelContents) -> None:
    """The list names every chip once, and every library that has code; there is none without code."""
    code = UPSTREAM[backend.name].code
    text = wheel.texts.get(f"{backend.package}/gpu_code.json", '{"code": [], "files": {}}')
    listed = json.loads(text)
    assert listed["code"] == list(code)
    assert {
        member: [name for names in kinds.values() for name in names] for member, kinds in listed["files"].items()
    } == {member: list(code) for member, coded in place_modules(backend).items() if coded}


def test_libraries_look_where_the_vendor_installs(backend: Backend, wheel: WheelContents) -> None:
    """Each directory once, none of the machine that built them; our own extension needs none."""
    found = {member: read_library(path, member).rpaths for member, path in wheel.libraries.items()}
    assert found == {
        f"{backend.package}/{EXTENSION}": (),
        **dict.fromkeys(place_modules(backend), UPSTREAM[backend.name].search_path),
    }
