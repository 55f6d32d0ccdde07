# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the extras for CUDA ask for, resolved with what the package index has today: no file is downloaded."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import find_uv, needs_of
from pjrtwheel.fetch import unpack_wheel
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name
from release_entries import write_small_wheel

pytestmark = pytest.mark.integration

Resolve = Callable[..., dict[str, str]]

# As uv names the platforms of `[tags]`.
PLATFORMS = {"linux_x86_64": "x86_64-manylinux_2_28", "linux_aarch64": "aarch64-manylinux_2_28"}

TABLE = """
import importlib, json, sys
package = importlib.import_module(f"{sys.argv[1]}.backend").PLUGIN.package
toolkit = importlib.import_module(f"{sys.argv[1]}.cuda.toolkit").read_toolkit(package)
print(json.dumps([(library.soname, library.project) for library in toolkit.libraries]))
"""


@pytest.fixture(scope="module")
def libraries(
    root: Path, backend_wheels: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], list[tuple[str, str]]]:
    """Return a function: a backend → names of the libraries that its loader opens, with the projects they come from."""

    def table(name: str) -> list[tuple[str, str]]:
        package, folder = find_backend(root, name).package, tmp_path_factory.mktemp(name)
        (wheel,) = backend_wheels(name).glob(f"{package}-*.whl")
        unpack_wheel(wheel, folder, ["*.py", "*/toolkit.toml"])
        environ = clean_environ(PYTHONPATH=str(folder))
        command = [sys.executable, "-c", TABLE, package]
        return [(soname, project) for soname, project in json.loads(subprocess.check_output(command, env=environ))]

    return table


@pytest.fixture(scope="module")
def resolve(
    backend_wheels: Callable[[str], Path],
    interpreter: Interpreter,
    release: Release,
    tmp_path_factory: pytest.TempPathFactory,
) -> Resolve:
    """Return a function: backend, platform, more requirements → project and version of all that would be installed.

    The wheels of a platform that cannot be built here are replaced by ones with the same metadata and its tag.
    """

    def ask(backend: str, platform: str, *requirements: str) -> dict[str, str]:
        folder, machine = tmp_path_factory.mktemp("links"), platform.removeprefix("linux_")
        for wheel in backend_wheels(backend).glob("*.whl"):
            if parse_name(wheel.name).fits(interpreter.tag):
                write_small_wheel(folder / wheel.name.replace("x86_64", machine), needs_of(wheel))
        command = [str(find_uv()), "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate"]
        command += [f"--python={interpreter.path}", f"--python-platform={PLATFORMS[platform]}"]
        command += ["--only-binary=:all:", f"--find-links={folder}"]
        wanted = [f"jax=={release.version}", f"jaxlib[{backend}]=={release.version}", *requirements]
        environ = clean_environ(UV_PYTHON_DOWNLOADS="never")
        said = subprocess.check_output(command, input="\n".join(wanted), text=True, env=environ)
        pinned = [line.split("==") for line in said.split() if "==" in line]
        return {project: version.split(";")[0].strip() for project, version in pinned}

    return ask


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("backend", ["cuda12", "cuda13"])
def test_the_extra_brings_the_libraries_that_the_loader_opens(
    root: Path, resolve: Resolve, libraries: Callable[[str], list[tuple[str, str]]], backend: str, platform: str
) -> None:
    """The newest that the bounds let through, each of the major version that is part of the library's file name."""
    resolved = resolve(backend, platform)
    assert find_backend(root, backend).distribution in resolved
    expected = {project: soname.partition(".so.")[2] for soname, project in libraries(backend)}
    assert {project: resolved.get(project, "").partition(".")[0] for project in expected} == expected


@pytest.mark.parametrize(
    ("backend", "distribution", "torch", "other"),
    [("cuda13", "jaxlib-cuda-13", "2.15.0", "-cu12"), ("cuda12", "jaxlib-cuda-12", "2.9.1", "-cu13")],
    ids=["cuda13", "cuda12"],
)
def test_pytorch_next_to_it(resolve: Resolve, backend: str, distribution: str, torch: str, other: str) -> None:
    """PyTorch wants exact versions of NVIDIA's libraries; ours take those, and bring no other CUDA.

    For CUDA 12 it is the last PyTorch that the index has.
    """
    resolved = resolve(backend, "linux_x86_64", f"torch=={torch}")
    assert {"torch", distribution} <= set(resolved)
    assert [project for project in resolved if project.endswith(other)] == []
