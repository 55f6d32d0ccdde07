# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Backends asked for by the names of their packages, in an environment of small files; JAX is not started."""

import sys
from collections.abc import Callable

import pytest

from jaxlib_select import runtime
from jaxlib_select.errors import BackendError
from jaxlib_select.machine import detect
from machines import H100
from release_under_test import BACKENDS
from site_packages import Site

# In place of NVIDIA's driver.
MOCK_DRIVER = {
    "cuda/hardware.py": "\nDEVICE_NODES = ('dev/null',)\n",
    "cuda/driver.py": "\ndef ask_driver(*_): return Driver(13000, (90,))\n",
}
Install = Callable[..., None]


@pytest.fixture
def install(site: Site, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs JAX and plugins of ours on a machine with an H100."""

    def install(*backends: str) -> None:
        site.jax()
        for name in backends:
            site.ours(name, libraries=False)
            for module, text in MOCK_DRIVER.items():
                path = f"{BACKENDS[name].package}/{module}"
                site.write(path, (site.folder / path).read_text("utf-8") + text)
        elsewhere = [path for path in sys.path if "site-packages" not in path]
        monkeypatch.setattr(sys, "path", [str(site.folder), *elsewhere])
        monkeypatch.setattr(detect, "detect", lambda: H100)
        monkeypatch.setenv("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")  # NVIDIA's libraries are not there

    return install


def test_a_package_that_serves_is_taken(install: Install) -> None:
    """By its own name, by that of its packaging, and by that of its platform."""
    install("cuda12")
    assert runtime.available() == ("cuda", "cpu")
    for name in ("cuda12", "cuda-12", "CUDA12", "cuda12-local", "cuda", "gpu"):
        assert runtime.require(name, initialize=False) == "cuda"


def test_another_package_for_the_platform_is_not_taken_for_it(install: Install) -> None:
    """Of two that are installed JAX takes the newer: who asks for the older gets an error before JAX is started."""
    install("cuda12", "cuda13")
    assert runtime.require("cuda13", initialize=False) == "cuda"
    for initialize in (False, True):
        with pytest.raises(BackendError) as caught:
            runtime.require("cuda12", initialize=initialize)
        assert "jaxlib-cuda-13" in caught.value.cause
        assert caught.value.remedy.endswith("jaxlib-cuda-13")


def test_a_package_that_is_not_installed_is_named(install: Install) -> None:
    """Though its platform is served."""
    install("cuda13")
    with pytest.raises(BackendError, match="jaxlib-cuda-12 is not installed"):
        runtime.require("cuda_12", initialize=False)
