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
from jaxlib_select.doctor import here
from jaxlib_select.errors import BackendError
from jaxlib_select.machine.model import Machine, Nvidia, NvidiaGpu

H100 = Machine("linux", "x86_64", nvidia=Nvidia((13, 0), cuinit=0, gpus=(NvidiaGpu((9, 0), "H100"),)))
LOCK = json.dumps({"release": "0.11.2", "lock_id": "1" * 32})

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, make_elf: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs JAX and plugins of ours on a machine with an H100."""

    def distribution(name: str, files: dict[str, bytes]) -> None:
        info = f"{name.replace('-', '_')}-0.11.2.dist-info"
        texts = {f"{info}/METADATA": f"Metadata-Version: 2.4\nName: {name}\nVersion: 0.11.2\n".encode()}
        for path, content in {**texts, **files}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(content)

    def install(*plugins: str) -> None:
        distribution("jax", {"jax/version.py": b'_version = "0.11.2"\n_minimum_jaxlib_version = "0.11.2"\n'})
        distribution("jaxlib", {"jaxlib/__init__.py": b"", "jaxlib/release_lock.json": LOCK.encode()})
        for name in plugins:
            package = name.replace("-", "_")
            files = {
                f"{package}/__init__.py": b'PLUGIN = Plugin(name="cuda")\nPRIORITY = 500\n',
                f"{package}/release_lock.json": LOCK.encode(),
                f"{package}/plugin.so": make_elf(),
                f"{package}/pjrt/_pjrt.abi3.so": make_elf(exports=["PyInit__pjrt"]),
                f"{package}-0.11.2.dist-info/entry_points.txt": f"[jax_plugins]\nit = {package}\n".encode(),
            }
            distribution(name, files)
        elsewhere = [path for path in sys.path if "site-packages" not in path]
        monkeypatch.setattr(sys, "path", [str(tmp_path), *elsewhere])
        monkeypatch.setattr(here, "detect_here", lambda: H100)

    return install


def test_a_package_that_serves_is_taken(install: Install) -> None:
    """By its own name, by that of its packaging, and by that of its platform."""
    install("jaxlib-cuda-12")
    assert runtime.available() == ("cuda", "cpu")
    for name in ("cuda12", "cuda12-local", "cuda", "gpu"):
        assert runtime.require(name, initialize=False) == "cuda"


def test_another_package_for_the_platform_is_not_taken_for_it(install: Install) -> None:
    """Of two that are installed JAX takes the newer: who asks for the older is told, before JAX is started."""
    install("jaxlib-cuda-12", "jaxlib-cuda-13")
    assert runtime.require("cuda13", initialize=False) == "cuda"
    for initialize in (False, True):
        with pytest.raises(BackendError) as caught:
            runtime.require("cuda12", initialize=initialize)
        assert caught.value.cause == "jaxlib-cuda-13 is for JAX's platform 'cuda' as well, and JAX takes that one"
        assert caught.value.remedy.startswith("remove it: ")
        assert caught.value.remedy.endswith("jaxlib-cuda-13")


def test_a_package_that_is_not_installed_is_named_with_its_command(install: Install) -> None:
    """Though its platform is served."""
    install("jaxlib-cuda-13")
    with pytest.raises(BackendError, match="jaxlib-cuda-12 is not installed"):
        runtime.require("cuda12", initialize=False)
