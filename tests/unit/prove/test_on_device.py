# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed for a proof on a device, and what is said when there is none."""

import sys
import sysconfig
import zipfile
from collections.abc import Callable
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest

from pjrtwheel.environment.venv import require_installed
from pjrtwheel.errors import ProofError
from pjrtwheel.prove.devices import Devices, find_devices, parse_answer, require_device
from pjrtwheel.prove.inputs import ProofInputs
from pjrtwheel.prove.inside.library import require_loaded
from pjrtwheel.prove.on_python import device_requirements
from release_under_test import BACKENDS

CUDA13 = BACKENDS["cuda13"]  # whose vendor's libraries come from the index

BINDINGS = "jaxlib-1.2.3-1-cp312-cp312-manylinux_2_27_x86_64.whl"
PLUGIN = "jaxlib_cuda_13-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl"


def test_the_vendors_libraries_come_with_the_extra() -> None:
    """On a device the extra that users take is installed, and nothing that only compiling without one needs."""
    inputs = ProofInputs(CUDA13, (), (), (), ("jax==1.2.3",), CUDA13.aot_requires)
    needed = device_requirements(inputs, [Path(BINDINGS), Path(PLUGIN)])
    assert needed == ["jax==1.2.3", "jaxlib-cuda-13[with-cuda]==1.2.3"]


def test_no_device_is_no_proof() -> None:
    """The reason is the one that the plugin's loader gave; a warning of it does not make a device disappear."""
    talk, absent = "jaxlib-cuda-13: no GPU", '{"count": 0, "kind": "", "reason": "Unknown backend"}'
    here = '{"count": 2, "kind": "H100", "reason": ""}'
    assert parse_answer(f"{talk}\n{here}", "jaxlib-cuda-13") == Devices(2, "H100")
    with pytest.raises(ProofError) as caught:
        require_device(parse_answer(f"{talk}\n{absent}", "jaxlib-cuda-13"), CUDA13)
    assert (caught.value.what, caught.value.cause) == ("no cuda device on this machine", "no GPU")
    require_device(parse_answer(f"{talk}\n{absent}", "jaxlib-cuda-13"), CUDA13, emulated=True)


@pytest.mark.parametrize("content", [b"ours", b"other", None])
def test_only_the_very_wheel_counts_as_installed(
    make_wheel: Callable[..., Path], tmp_path: Path, content: bytes | None
) -> None:
    """A folder of requirements may hold another build of the same version, or Python may have one installed."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    if content is not None:
        with zipfile.ZipFile(make_wheel({"a.py": content}, name=PLUGIN)) as archive:
            archive.extractall(site)
        with (site / "jaxlib_cuda_13-1.2.3.dist-info" / "RECORD").open("a") as record:
            record.write("jaxlib_cuda_13-1.2.3.dist-info/INSTALLER,,\n")
    wheel = make_wheel({"a.py": b"ours"}, name=PLUGIN)
    if content == b"ours":
        require_installed(tmp_path / "bin" / "python", [wheel])
    else:
        with pytest.raises(ProofError, match="what was installed is not"):
            require_installed(tmp_path / "bin" / "python", [wheel])


def test_a_python_without_jax_has_no_device() -> None:
    """How its process ended is the reason."""
    assert find_devices(Path(sys.executable), CUDA13) == Devices(0, reason="JAX does not start: exit status 1")


def test_a_library_that_is_not_loaded_is_no_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python installs wheels it says itself: that of a free-threaded one is not named by its version alone."""
    site = tmp_path / "lib/python3.14t/site-packages"
    site.mkdir(parents=True)
    monkeypatch.setattr(sysconfig, "get_path", {"platlib": str(site)}.__getitem__)
    (site / "wheel.so").write_bytes(b"the wheel's")
    with pytest.raises(AssertionError, match="is not loaded"):
        require_loaded("wheel.so")
    with (site / "wheel.so").open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ):
        require_loaded("wheel.so")
