# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about CUDA 13: NVIDIA's wheels put most libraries into one folder, and have no suffix."""

from __future__ import annotations

from .cuda.toolkit import NvidiaLibrary, Toolkit

TOOLKIT = Toolkit(
    major=13,
    driver=580,
    older=(12,),
    # Dependencies first. NVRTC is for cuDNN, whose search path does not lead to it.
    libraries=(
        NvidiaLibrary("libcudart.so.13", "cu13", "nvidia-cuda-runtime"),
        NvidiaLibrary("libnvrtc.so.13", "cu13", "nvidia-cuda-nvrtc"),
        NvidiaLibrary("libnvJitLink.so.13", "cu13", "nvidia-nvjitlink"),
        NvidiaLibrary("libcublasLt.so.13", "cu13", "nvidia-cublas"),
        NvidiaLibrary("libcublas.so.13", "cu13", "nvidia-cublas"),
        NvidiaLibrary("libnccl.so.2", "nccl", "nvidia-nccl-cu13", gpus=2),
        NvidiaLibrary("libcupti.so.13", "cu13", "nvidia-cuda-cupti"),
        NvidiaLibrary("libcusparse.so.12", "cu13", "nvidia-cusparse"),
        NvidiaLibrary("libcusolver.so.12", "cu13", "nvidia-cusolver"),
        NvidiaLibrary("libcufft.so.12", "cu13", "nvidia-cufft"),
        NvidiaLibrary("libnvshmem_host.so.3", "nvshmem", "nvidia-nvshmem-cu13", gpus=0),
        NvidiaLibrary("libcudnn.so.9", "cudnn", "nvidia-cudnn-cu13"),
    ),
    # Those of the wheels that backend.toml requires at least. cuDNN's follows from the version of the build.
    minimum={"CUDA runtime": 13000, "cuBLAS": 130000, "CUPTI": 130000, "cuSPARSE": 12602, "cuFFT": 12000},
    built={"CUDA runtime": 13000, "cuBLAS": 130000, "CUPTI": 130000, "cuSPARSE": 12602, "cuFFT": 12000, "cuDNN": 91200},
)
