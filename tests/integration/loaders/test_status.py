# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The command that shows the status of a plugin for GPUs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loader_programs import ABSENT, VERSION, Overlay, Program, put, said
from plugin_status import verdict_of

pytestmark = pytest.mark.integration


def add_unchecked_libraries(nvidia: Callable[..., Path], folder: Path) -> None:
    """Add what JAX starts without: NVIDIA's libraries whose versions are not checked, for one GPU."""
    for library in ("libnvrtc.so.13", "libnvJitLink.so.13", "libcublasLt.so.13", "libcusolver.so.12"):
        put(nvidia(library), folder / "nvidia/cu13/lib" / library)


STATUS = "import runpy, sys; sys.argv[1:] = []; runpy.run_module('jaxlib_cuda_13', run_name='__main__')"


def test_the_status_of_a_plugin_for_gpus(run: Program, overlay: Overlay, tmp_path: Path) -> None:
    """What it is, for which GPUs and Pythons, and what it finds here: none of NVIDIA's libraries but a text."""
    (tmp_path / "nvidia/cudnn/lib").mkdir(parents=True)
    (tmp_path / "nvidia/cudnn/lib/libcudnn.so.9").write_text("not a library\n" * 9, "utf-8")
    result = run(STATUS, overlay("cuda13"), tmp_path, CUDA_HOME="/nowhere")
    assert (result.returncode, said(result)) == (1, [])
    lines = result.stdout.splitlines()
    assert lines[1].startswith(f"jaxlib-cuda-13 {VERSION}, build 1, lock ")
    labels = [line[:11].strip() for line in lines[2:]]
    expected = ["runs with", "library", "PJRT API", "extensions", "attributes", "GPU code", "kernels", "libraries"]
    assert labels[: len(expected)] == expected
    shown = {line[:11].strip(): line[12:] for line in lines}
    assert {"Gpu_Custom_Call", "FFI", "Layouts"} <= set(shown["extensions"].split(", "))
    assert "sm_90" in shown["GPU code"].split()
    assert {"_solver", "cuda_plugin_extension"} <= set(shown["kernels"].split())
    assert "libcudnn.so.9" in shown["missing"].split()
    impostor = f"{tmp_path}/nvidia/cudnn/lib/libcudnn.so.9 is not a library: not an ELF file"
    assert f"rejected    {impostor}" in lines
    assert f"cuDNN cannot be opened: {impostor}" in shown["problem"]
    assert shown["hardware"] == ABSENT["cuda13"].partition(": ")[2]
    assert f"uv pip install 'jaxlib-cuda-13[with-cuda]=={VERSION}'" in shown["note"]
    assert lines[-1].startswith("To fix it: uv pip install --upgrade nvidia-cublas ")


def test_the_status_where_only_the_hardware_is_absent(
    run: Program, overlay: Overlay, nvidia: Callable[..., Path], nvidia_wheels: Path, tmp_path: Path
) -> None:
    """The plugin fits, and the first line says that there is nothing to use it with; a wrong file is passed over."""
    add_unchecked_libraries(nvidia, tmp_path)
    result = run(STATUS, overlay("cuda13"), nvidia_wheels, tmp_path)
    assert (result.returncode, said(result)) == (0, []), result.stdout
    absence = ABSENT["cuda13"].partition(": ")[2]
    assert verdict_of(result.stdout) == f"jaxlib-cuda-13 fits, but JAX cannot use it here: {absence}"


@pytest.mark.parametrize(
    ("environ", "status", "verdict"),
    [
        ({"FAKE_GPUS": "90"}, 0, "jaxlib-cuda-13 fits here: JAX uses it for its platform 'cuda'"),
        (
            {"FAKE_CUINIT": "100", "CUDA_VISIBLE_DEVICES": ""},
            1,
            "jaxlib-cuda-13 does not fit here. To fix it: unset CUDA_VISIBLE_DEVICES",
        ),
        (
            {"FAKE_GPUS": "90", "FAKE_CUDA": "12080"},
            1,
            (
                "jaxlib-cuda-13 does not fit here. "
                "To fix it: update the driver to 580 or newer, or use the wheel for CUDA 12"
            ),
        ),
        (
            {"FAKE_GPUS": "61"},
            1,
            (
                "jaxlib-cuda-13 does not run all programs here. To fix it: use the wheel for CUDA 12, "
                "or leave these GPUs out of CUDA_VISIBLE_DEVICES"
            ),
        ),
        (
            {"FAKE_GPUS": "90 90"},
            1,
            (
                "jaxlib-cuda-13 does not run all programs here. "
                f"To fix it (all of NVIDIA's: uv pip install 'jaxlib-cuda-13[with-cuda]=={VERSION}'; "
                "JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1 tries it as it is): uv pip install --upgrade nvidia-nccl-cu13"
            ),
        ),
    ],
    ids=["all well", "hidden", "old driver", "old GPU", "two GPUs without NCCL"],
)
def test_the_status_on_a_machine_with_a_device_of_nvidias(
    run: Program,
    overlay: Overlay,
    nvidia: Callable[..., Path],
    nvidia_wheels: Path,
    namespace: list[str],
    tmp_path: Path,
    environ: dict[str, str],
    status: int,
    verdict: str,
) -> None:
    """Whatever keeps JAX from using a GPU that is there is a misfit, also that this process sees none."""
    put(nvidia("libcuda.so.1"), tmp_path / "driver/libcuda.so.1")
    add_unchecked_libraries(nvidia, tmp_path)
    library_path = str(tmp_path / "driver")
    plugins = overlay("cuda13"), nvidia_wheels, tmp_path
    result = run(STATUS, *plugins, inside=namespace, LD_LIBRARY_PATH=library_path, **environ)
    assert (result.returncode, verdict_of(result.stdout)) == (status, verdict), result.stderr
