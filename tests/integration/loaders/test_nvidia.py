# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The plugin for NVIDIA's GPUs inside JAX and by its own command, with mock drivers and mock libraries of NVIDIA's."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from loader_programs import ABSENT, USE_JAX, USED, VERSION, Overlay, Program, put, said
from plugin_status import verdict_of

pytestmark = pytest.mark.integration

# JAX believes that there is a GPU; creating the client, which needs a real one, is left out and shows its arguments.
PRETEND = """
import dataclasses, jax, jaxlib_cuda_13
from jax._src import distributed, xla_bridge
jaxlib_cuda_13.ACCELERATOR = dataclasses.replace(jaxlib_cuda_13.ACCELERATOR, find_device=lambda: None)
jaxlib_cuda_13.ACCELERATOR.check.__self__.driver = jaxlib_cuda_13.cuda.driver.Driver(13000, (90,))
jax.config.update("jax_cuda_visible_devices", "0,2")
jax.devices()
xla_bridge.xla_client.make_c_api_client = lambda name, options, *_: print(name, options)
registration = xla_bridge._backend_factories["cuda"]
print(registration.priority, registration.fail_quietly, registration.experimental, registration.c_api is not None)
try:
    registration.factory()
    distributed.global_state.client, distributed.global_state.process_id = True, 3
    distributed.global_state.num_processes = 4
    registration.factory()
except RuntimeError as error:
    print(error)
distributed.global_state.client = None
"""

# What a program does that believes in a GPU, up to the checks before the first client.
BELIEVE = """
import jax, jaxlib_cuda_13
from jaxlib_cuda_13.cuda.driver import Driver
cuda = jaxlib_cuda_13.ACCELERATOR.check.__self__
cuda.driver = Driver(13000, (90,))
try:
    cuda.check()
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("environ", "status", "line"),
    [
        ({"FAKE_CUINIT": "100"}, 0, "NVIDIA's driver sees no GPU; JAX goes on without it"),
        *(({"FAKE_CUINIT": f"{failure}"}, 1, f"DriverError: .* status {failure}$") for failure in (34, 802, 803, 804)),
        ({"FAKE_GPUS": "90", "FAKE_CUDA": "12080"}, 1, r"DriverError: .* CUDA up to 12\.8, "),
        ({"FAKE_GPUS": "90"}, 1, r"VendorLibraryError: cuBLAS is missing \(libcublas.so.13\)"),
    ],
    ids=["no GPU", "34", "802", "803", "804", "old driver", "no libraries"],
)
def test_a_machine_with_a_device_of_nvidias(
    on_machine: Program, environ: dict[str, str], status: int, line: str
) -> None:
    """JAX goes on only if its driver says that there is no GPU; all else is an error with a name, at the first use."""
    result = on_machine(USE_JAX, **environ)
    assert (result.returncode, result.stdout) == (status, USED * (status == 0)), result.stderr
    assert re.search(line, result.stderr, re.MULTILINE), result.stderr


def test_libraries_of_the_wheels_are_taken_whatever_the_search_path(
    run: Program, overlay: Overlay, nvidia: Callable[..., Path], nvidia_wheels: Path, tmp_path: Path
) -> None:
    """An older cuSPARSE in LD_LIBRARY_PATH is neither opened nor found by name later."""
    put(nvidia("libcusparse.so.12", 12000), tmp_path / "poison/libcusparse.so.12")
    code = BELIEVE + (
        "from jaxlib_cuda_13.pjrt import _pjrt\n"
        "print(_pjrt.library_version('libcusparse.so.12', 'cusparseGetProperty', 'properties'))\n"
        "print(any('poison' in line for line in open('/proc/self/maps')))\n"
    )
    result = run(code, overlay("cuda13"), nvidia_wheels, LD_LIBRARY_PATH=str(tmp_path / "poison"))
    assert (result.returncode, result.stdout) == (0, "(12, 6, 2)\nFalse\n"), result.stderr


def test_options_of_the_client(run: Program, overlay: Overlay) -> None:
    """Those of the environment, of JAX's configuration, and of a program of several processes."""
    environ = {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1", "XLA_CLIENT_MEM_FRACTION": "0.5"}
    result = run(PRETEND, overlay("cuda13"), **environ)
    assert result.returncode == 0, result.stderr
    registration, *clients = result.stdout.splitlines()
    assert registration == "500 False False True"
    alone, together = ({"name": line[:4], **ast.literal_eval(line[5:])} for line in clients)
    configured = {"visible_devices": [0, 2], "memory_fraction": 0.5, "allocator": "default"}
    off = dict.fromkeys(("abort_collectives_on_failure", "use_tfrt_gpu_client", "enable_mock_nccl"), False)
    assert alone == {"name": "cuda", "platform_name": "cuda", **configured, **off}
    assert together == {**alone, "node_id": 3, "num_nodes": 4}


def test_what_is_missing_and_what_is_old_is_reported_at_once(
    run: Program, overlay: Overlay, nvidia: Callable[..., Path], nvidia_wheels: Path, tmp_path: Path
) -> None:
    """With the places that were looked at and one command for all."""
    site = tmp_path / "site"
    for library in nvidia_wheels.rglob("*.so.*"):
        if not library.name.startswith(("libcusparse", "libcudnn")):
            put(library, site / library.relative_to(nvidia_wheels))
    put(nvidia("libcudnn.so.9", 90100), site / "nvidia/cudnn/lib/libcudnn.so.9")
    result = run(BELIEVE, overlay("cuda13"), site)
    what, looked, remedy = result.stdout.splitlines()
    texts = "VendorLibraryError", "cuSPARSE is missing (libcusparse.so.12)", "cuDNN 9.1.0", "9.12.0"
    assert [text for text in texts if text not in what] == []
    places = f"{site}/nvidia/cu13/lib, ", f"'jaxlib-cuda-13[with-cuda]=={VERSION}'", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1"
    assert [text for text in places if text not in looked] == []
    assert remedy == "uv pip install --upgrade nvidia-cusparse nvidia-cudnn-cu13"
    assert run(BELIEVE, overlay("cuda13"), site, JAX_SKIP_CUDA_CONSTRAINTS_CHECK="1").stdout == ""


STATUS = "import runpy, sys; sys.argv[1:] = []; runpy.run_module('jaxlib_cuda_13', run_name='__main__')"


def test_the_status_of_a_plugin_for_gpus(run: Program, overlay: Overlay, tmp_path: Path) -> None:
    """What it is, for which GPUs and Pythons, and what it finds here: none of NVIDIA's libraries but a text."""
    (tmp_path / "nvidia/cudnn/lib").mkdir(parents=True)
    (tmp_path / "nvidia/cudnn/lib/libcudnn.so.9").write_text("not a library\n" * 9, "utf-8")
    result = run(STATUS, overlay("cuda13"), tmp_path, CUDA_HOME="/nowhere")
    assert (result.returncode, said(result)) == (1, [])
    lines = result.stdout.splitlines()
    assert lines[1].startswith(f"jaxlib-cuda-13 {VERSION}, build 1, lock ")
    shown = {line[:11].strip(): line[12:] for line in lines}
    assert {"Gpu_Custom_Call", "FFI", "Layouts"} <= set(shown["extensions"].split(", "))
    assert "sm_90" in shown["GPU code"].split()
    assert {"_solver", "cuda_plugin_extension"} <= set(shown["kernels"].split())
    assert "libcudnn.so.9" in shown["missing"].split()
    assert f"{tmp_path}/nvidia/cudnn/lib/libcudnn.so.9" in shown["rejected"]
    assert shown["hardware"] == ABSENT["cuda13"].partition(": ")[2]
    assert lines[-1].startswith("To fix it: uv pip install --upgrade nvidia-cublas ")


@pytest.mark.parametrize(
    ("environ", "status", "named"),
    [
        ({"FAKE_GPUS": "90"}, 0, ("fits here",)),
        ({"FAKE_CUINIT": "100", "CUDA_VISIBLE_DEVICES": ""}, 1, ("does not fit here", "unset CUDA_VISIBLE_DEVICES")),
        ({"FAKE_GPUS": "90", "FAKE_CUDA": "12080"}, 1, ("does not fit here", "580", "wheel for CUDA 12")),
        ({"FAKE_GPUS": "61"}, 1, ("does not run all programs", "wheel for CUDA 12", "CUDA_VISIBLE_DEVICES")),
        ({"FAKE_GPUS": "90 90"}, 1, ("does not run all programs", "--upgrade nvidia-nccl-cu13")),
    ],
    ids=["all well", "hidden", "old driver", "old GPU", "two GPUs without NCCL"],
)
def test_the_status_on_a_machine_with_a_device_of_nvidias(
    on_machine: Program,
    nvidia: Callable[..., Path],
    nvidia_wheels: Path,
    tmp_path: Path,
    environ: dict[str, str],
    status: int,
    named: tuple[str, ...],
) -> None:
    """What keeps JAX from using a GPU that is there is a misfit; libraries that it starts without are checked too."""
    for library in ("libnvrtc.so.13", "libnvJitLink.so.13", "libcublasLt.so.13", "libcusolver.so.12"):
        put(nvidia(library), tmp_path / "nvidia/cu13/lib" / library)
    result = on_machine(STATUS, nvidia_wheels, tmp_path, **environ)
    verdict = verdict_of(result.stdout)
    assert (result.returncode, [text for text in named if text not in verdict]) == (status, []), result.stderr
