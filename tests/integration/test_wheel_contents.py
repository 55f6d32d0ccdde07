# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""All that is in the wheels which no machine here can run: members, metadata, GPU code, search paths."""

import json
import os
import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pjrtwheel.abis import FREE_THREADED, STABLE_ABI, extension_suffix
from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.binaries import read_library
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel, unpack_wheel
from pjrtwheel.gpucode.reader import read_gpu_code
from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import extras_of
from pjrtwheel.verify.contents import WheelContents, read_contents
from pjrtwheel.wheel.plugin import generate_modules

pytestmark = pytest.mark.integration

PLATFORM = "linux_x86_64"
EXTENSION = {f"pjrt/_pjrt{extension_suffix(abi, 'x86_64')}" for abi in (STABLE_ABI, *FREE_THREADED.values())}


@dataclass(frozen=True, slots=True)
class Library:
    """What upstream's wheel has of a library: the chips it holds code for, and where it looks for others."""

    code: tuple[str, ...]
    search_path: tuple[str, ...]


@pytest.fixture(scope="module", params=["oneapi", "oneapi cp312", "rocm10", "rocm7 cp312", "tpu"])
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Return one accelerator after the other, and the Python of its kernels; none for its plugin."""
    backend, _, python = request.param.partition(" ")
    return backend, python


@pytest.fixture(scope="module")
def backend(case: tuple[str, str], root: Path) -> Backend:
    """Return the accelerator."""
    return find_backend(root, case[0])


@pytest.fixture(scope="module")
def package(case: tuple[str, str], backend: Backend) -> str:
    """Return the package of our own in its wheel."""
    return backend.kernels_package if case[1] else backend.package


@pytest.fixture(scope="module")
def wheel_release(backend: Backend, release_of: Callable[[str], Release]) -> Release:
    """Return the release that its wheel is of."""
    return release_of(backend.name)


@pytest.fixture(scope="module")
def upstream(
    case: tuple[str, str], backend: Backend, wheel_release: Release, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Library]:
    """Return what the accelerator's wheel has from upstream's: place of each library → what the pinned wheel has."""
    cache, folder = WheelCache(cache_root(os.environ), download_wheel), tmp_path_factory.mktemp("upstream")
    name, python = case
    if python:
        suffix = f"cpython-{python.removeprefix('cp')}-x86_64-linux-gnu.so"
        modules = read_libraries(cache.fetch(wheel_release.pin(f"kernels.{name}.{python}.{PLATFORM}")), folder)
        return {f"{member.removesuffix('.so')}.{suffix}": library for member, library in modules.items()}
    if not backend.prebuilt.bundled:
        return {}
    pinned = cache.fetch(wheel_release.pin(f"plugin.{name}.{PLATFORM}"))
    return {f"{backend.package}/{backend.library}": read_libraries(pinned, folder)[backend.prebuilt.member]}


def read_libraries(wheel: Path, folder: Path) -> dict[str, Library]:
    """Return each library of a wheel by its name there."""
    found = {}
    for member in unpack_wheel(wheel, folder, ["*.so"]):
        path = folder / member
        found[member] = Library(read_gpu_code(path, {}).names(), read_library(path, member).search_paths)
        path.unlink()
    return found


@pytest.fixture(scope="module")
def wheel(
    case: tuple[str, str],
    package: str,
    backend_wheels: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> WheelContents:
    """Return the accelerator's wheel, read and its libraries unpacked."""
    (found,) = backend_wheels(case[0]).glob(f"{package}-*{case[1] and f'-{case[1]}-*'}.whl")
    return read_contents(found, tmp_path_factory.mktemp("contents"))


def test_nothing_is_missing_and_nothing_is_too_much(
    backend: Backend, package: str, wheel: WheelContents, upstream: dict[str, Library], root: Path
) -> None:
    """The loader of the repository and what is generated for it, library or kernels, documents, metadata."""
    info, is_plugin = wheel.dist_info, package == backend.package
    folder, shared = root / "plugins" / backend.name / package, ("pjrt", *backend.shared)
    loader = {
        f"{package}/{name}"
        for name in (*(path.name for path in folder.glob("*.*")), *generate_modules(backend, "prebuilt"))
    } | {f"{package}/pjrt/_pjrt.pyi"}
    parts = [(part, root / "plugins" / part, kind) for part in shared for kind in ("loader/*.*", "targets/*.toml")]
    parts += [("targets", folder.parent, "targets/*.toml")]
    loader |= {f"{package}/{part}/{path.name}" for part, place, kind in parts for path in place.glob(kind)}
    documents = {"provenance.json", "release_lock.json", *(EXTENSION if is_plugin else ["__init__.py"])}
    documents |= {"backend.toml"} if is_plugin else set()
    documents |= {"gpu_code.json"} if any(library.code for library in upstream.values()) else set()
    metadata = {"METADATA", "RECORD", "WHEEL", "licenses/LICENSE", "sboms/pjrtwheel.cdx.json"}
    metadata |= {"entry_points.txt"} if is_plugin else set()
    assert set(wheel.members) == {
        *(loader if is_plugin else ()),
        *upstream,
        *(f"{package}/{name}" for name in documents),
        *(f"{info}/{name}" for name in metadata),
    }


def test_metadata_says_what_the_backend_file_does(
    backend: Backend, package: str, wheel: WheelContents, wheel_release: Release
) -> None:
    """All requirements, with and without an extra, and where JAX finds the loader; kernels go with `jaxlib` alone."""
    headers, plugin = wheel.headers("METADATA"), wheel_release.pin(f"plugin.{backend.name}.{PLATFORM}")
    if package != backend.package:
        assert headers.get_all("Requires-Dist") == [f"jaxlib=={wheel_release.set_version}"]
        return
    assert headers.get_all("Requires-Dist") == [
        f"jaxlib=={wheel_release.set_version}",
        *([f"{backend.kernels_distribution}=={wheel_release.set_version}"] if backend.kernels else []),
        *([] if backend.prebuilt.bundled else [f"{plugin.project}=={plugin.version}"]),
        *(
            f'{need}; extra == "{extra}"'
            for extra, needs in extras_of(backend, wheel_release).items()
            for need in needs
        ),
    ]
    assert headers.get_all("Provides-Extra", []) == list(backend.extras)
    entry_points = wheel.texts[f"{wheel.dist_info}/entry_points.txt"]
    assert entry_points == f"[jax_plugins]\n{backend.pjrt_name} = {backend.package}\n"


def test_gpu_code_is_that_of_upstream(package: str, wheel: WheelContents, upstream: dict[str, Library]) -> None:
    """The list names every chip once, and every library that has code; there is none without code."""
    text = wheel.texts.get(f"{package}/gpu_code.json", '{"code": [], "files": {}}')
    listed = json.loads(text)
    assert listed["code"] == list(dict.fromkeys(chip for library in upstream.values() for chip in library.code))
    assert {
        member: tuple(name for names in kinds.values() for name in names) for member, kinds in listed["files"].items()
    } == {member: library.code for member, library in upstream.items() if library.code}


def test_libraries_look_where_the_vendor_installs(
    backend: Backend, package: str, wheel: WheelContents, upstream: dict[str, Library]
) -> None:
    """Upstream's directories as far as they are of use, each once; our own extension needs none."""

    def is_useful(member: str, element: str) -> bool:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(member), element.removeprefix("$ORIGIN/")))
        inside = element.startswith("$ORIGIN/") and not target.startswith("..") and ".runfiles/" not in element
        return inside or element in backend.search_paths

    found = {member: read_library(path, member).search_paths for member, path in wheel.libraries.items()}
    assert found == {
        **{f"{package}/{name}": () for name in EXTENSION if package == backend.package},
        **{
            member: tuple(element for element in dict.fromkeys(library.search_path) if is_useful(member, element))
            for member, library in upstream.items()
        },
    }
    assert all(found[member] for member in upstream)
