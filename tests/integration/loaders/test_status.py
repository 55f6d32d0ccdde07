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
