# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about CUDA 12: NVIDIA has a wheel for each of its libraries, named after it."""

from __future__ import annotations

from .cuda.toolkit import NvidiaLibrary, Toolkit

TOOLKIT = Toolkit(
    major=12,
    driver=525,
    older=(),
    # Dependencies first. NVRTC is for cuDNN, whose search path does not lead to it.
    libraries=(
        NvidiaLibrary("libcudart.so.12", "cuda_runtime", "nvidia-cuda-runtime-cu12"),
        NvidiaLibrary("libnvrtc.so.12", "cuda_nvrtc", "nvidia-cuda-nvrtc-cu12"),
        NvidiaLibrary("libnvJitLink.so.12", "nvjitlink", "nvidia-nvjitlink-cu12"),
        NvidiaLibrary("libcublasLt.so.12", "cublas", "nvidia-cublas-cu12"),
        NvidiaLibrary("libcublas.so.12", "cublas", "nvidia-cublas-cu12"),
        NvidiaLibrary("libnccl.so.2", "nccl", "nvidia-nccl-cu12", gpus=2),
        NvidiaLibrary("libcupti.so.12", "cuda_cupti", "nvidia-cuda-cupti-cu12"),
        NvidiaLibrary("libcusparse.so.12", "cusparse", "nvidia-cusparse-cu12"),
        NvidiaLibrary("libcusolver.so.11", "cusolver", "nvidia-cusolver-cu12"),
        NvidiaLibrary("libcufft.so.11", "cufft", "nvidia-cufft-cu12"),
        NvidiaLibrary("libnvshmem_host.so.3", "nvshmem", "nvidia-nvshmem-cu12", gpus=0),
        NvidiaLibrary("libcudnn.so.9", "cudnn", "nvidia-cudnn-cu12"),
    ),
    # Those of the wheels that backend.toml requires at least. cuDNN's follows from the version of the build.
    minimum={"CUDA runtime": 12010, "cuBLAS": 120100, "CUPTI": 18, "cuSPARSE": 12100, "cuFFT": 11002},
    built={"CUDA runtime": 12090, "cuBLAS": 120901, "CUPTI": 28, "cuSPARSE": 12510, "cuFFT": 11401, "cuDNN": 91002},
)
