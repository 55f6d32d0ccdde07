# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Backends asked for by the names of their packages, in an environment of small files; JAX is not started."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlib_select import runtime
from jaxlib_select.doctor import examine
from jaxlib_select.errors import BackendError
from machines import H100, MAX
from pjrtwheel.backend import Backend, load_backends

LOCK = json.dumps({"release": "1.2.3", "build": 1, "provider": "prebuilt", "lock_id": "1" * 32})
BACKENDS = load_backends(Path(__file__).resolve().parents[3])

# In place of our extension module, which is compiled, and of NVIDIA's driver.
EXTENSION = """
def preload(*_): raise OSError("no such library")
def load(path): return None
def api_version(api): return 0, 115
def extensions(api): return []
def attributes(api): return {}
"""
MOCK_DRIVER = {
    "cuda/hardware.py": "\nDEVICE_NODES = ('dev/null',)\n",
    "cuda/driver.py": "\ndef ask_driver(*_): return Driver(13000, (90,))\n",
}

PutLoader = Callable[[str, Path], Path]

Install = Callable[..., None]


@pytest.fixture
def install(
    tmp_path: Path, make_elf: Callable[..., bytes], put_loader: PutLoader, monkeypatch: pytest.MonkeyPatch
) -> Install:
    """Return a function that installs JAX and plugins of ours on a machine with an H100."""

    def write(path: str, content: bytes) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).unlink(missing_ok=True)  # it may be a link to one of the loaders' modules
        (tmp_path / path).write_bytes(content)

    def distribution(name: str) -> None:
        info = f"{name.replace('-', '_')}-1.2.3.dist-info"
        write(f"{info}/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.2.3\n".encode())

    def put_plugin(backend: Backend) -> None:
        package = backend.package
        put_loader(backend.name, tmp_path)
        distribution(backend.distribution)
        write(f"{package}-1.2.3.dist-info/entry_points.txt", f"[jax_plugins]\nit = {package}\n".encode())
        write(f"{package}/release_lock.json", LOCK.encode())
        write(f"{package}/{backend.library}", make_elf())
        write(f"{package}/pjrt/_pjrt.py", EXTENSION.encode())
        for module, text in MOCK_DRIVER.items():
            write(f"{package}/{module}", (tmp_path / package / module).read_bytes() + text.encode())

    def install(*backends: str) -> None:
        distribution("jax")
        write("jax/version.py", b'_version = "1.2.3"\n_minimum_jaxlib_version = "1.2.3"\n')
        distribution("jaxlib")
        write("jaxlib/__init__.py", b"")
        write("jaxlib/release_lock.json", LOCK.encode())
        for name in backends:
            put_plugin(BACKENDS[name])
        elsewhere = [path for path in sys.path if "site-packages" not in path]
        monkeypatch.setattr(sys, "path", [str(tmp_path), *elsewhere])
        monkeypatch.setattr(examine, "detect_here", lambda: H100)
        monkeypatch.setenv("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")  # NVIDIA's libraries are not there

    return install


def test_a_package_that_serves_is_taken(install: Install) -> None:
    """By its own name, by that of its packaging, and by that of its platform."""
    install("cuda12")
    assert runtime.available() == ("cuda", "cpu")
    for name in ("cuda12", "cuda-12", "cuda_12", "CUDA12", "cuda12-local", "cuda", "gpu"):
        assert runtime.require(name, initialize=False) == "cuda"


def test_another_package_for_the_platform_is_not_taken_for_it(install: Install) -> None:
    """Of two that are installed JAX takes the newer: who asks for the older gets an error before JAX is started."""
    install("cuda12", "cuda13")
    assert runtime.require("cuda13", initialize=False) == "cuda"
    for initialize in (False, True):
        with pytest.raises(BackendError) as caught:
            runtime.require("cuda12", initialize=initialize)
        assert caught.value.cause == "jaxlib-cuda-13 is for JAX's platform 'cuda' as well, and JAX takes that one"
        assert caught.value.remedy.startswith("remove it: ")
        assert caught.value.remedy.endswith("jaxlib-cuda-13")


def test_a_package_that_is_not_installed_is_named_with_its_command(install: Install) -> None:
    """Though its platform is served."""
    install("cuda13")
    with pytest.raises(BackendError, match="jaxlib-cuda-12 is not installed"):
        runtime.require("cuda12", initialize=False)
    with pytest.raises(BackendError, match="jaxlib-cuda-12 is not installed"):
        runtime.require("cuda_12", initialize=False)


@pytest.mark.parametrize("backend", ["oneapi", "gpu"])
def test_a_package_that_the_installed_release_lacks_is_found_in_another(
    backend: str, install: Install, add_release: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says why it is not there, and names the release."""
    add_release("1.2.3", oneapi="no file")
    add_release("2.0")
    install()
    gpu = MAX
    monkeypatch.setattr(examine, "detect_here", lambda: gpu)
    with pytest.raises(BackendError) as caught:
        runtime.require(backend, initialize=False)
    assert str(caught.value).splitlines() == [
        f"backend {backend!r} cannot be used here",
        "there is no wheel of jaxlib-oneapi 1.2.3 for Linux on x86_64, no file",
        "the newest that has it is jax==2.0: jaxlib-select resolve jax==2.0",
    ]
