# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which versions of NVIDIA's libraries are here, and which of them cannot run programs as they should."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Component:
    """A library whose version is checked.

    Attributes:
        name: Its name for users.
        stem: Its file name up to `.so`.
        symbol: The function that returns its version.
        form: How to call that function, see `_pjrt.library_version`.
        built: Prefix of the kernels' function that returns the version they were built with.
        major: The factor of the major version in its version numbers.
        minor: The same for the minor version.
        driver: Whether to ask it only where the driver works.
    """

    name: str
    stem: str
    symbol: str
    form: str
    built: str
    major: int
    minor: int
    driver: bool = False


CUDNN = Component("cuDNN", "libcudnn", "cudnnGetVersion", "value", "cudnn", 10000, 100)
COMPONENTS = (
    Component("CUDA runtime", "libcudart", "cudaRuntimeGetVersion", "pointer", "cuda_runtime", 1000, 10),
    Component("cuBLAS", "libcublas", "cublasGetProperty", "properties", "cublas", 10000, 100),
    # Without a driver some fail with status 999, and that of CUDA 13.2 (13.2.86) calls itself until the stack is full.
    Component("CUPTI", "libcupti", "cuptiGetVersion", "pointer", "cupti", 10000, 100, driver=True),
    Component("cuSPARSE", "libcusparse", "cusparseGetProperty", "properties", "cusparse", 1000, 100),
    Component("cuFFT", "libcufft", "cufftGetVersion", "pointer", "cufft", 1000, 100),
    CUDNN,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A library that is not fit to run programs.

    Attributes:
        text: What is wrong.
        stem: File name of the library to replace, up to `.so`.
    """

    text: str
    stem: str


CUBLAS_TENSOR_MEMORY = (
    "cuBLAS 12.8 to 13.1 can free the tensor memory of another kernel that runs at the same time on GPUs of compute "
    "capability 10.x and 11.x: results may be wrong where streams overlap; cuBLAS 13.2 has the fix"
)


def as_number(component: Component, answer: int | tuple[int, int, int]) -> int:
    """Return a version as one number, in whatever form the library returned it."""
    if isinstance(answer, int):
        return answer
    return answer[0] * component.major + answer[1] * component.minor + answer[2]


def as_text(component: Component, version: int) -> str:
    """Return a version for users.

    >>> as_text(COMPONENTS[0], 12090), as_text(COMPONENTS[1], 120901), as_text(COMPONENTS[2], 28)
    ('12.9', '12.9.1', '28')
    """
    if version < component.major:  # CUPTI counted its versions until CUDA 12
        return str(version)
    parts = [version // component.major, version % component.major // component.minor]
    return ".".join(map(str, [*parts, *([version % component.minor] if component.minor > 10 else [])]))


def find_problems(
    found: Mapping[str, int], minimum: Mapping[str, int], built: Mapping[str, int], devices: int
) -> list[Problem]:
    """Return what is too old, and what is known to give wrong results for a process that uses so many devices.

    All three tables are of versions by the name of the component: those here, the oldest that work, those of the build.
    """
    problems = [
        Problem(
            f"{component.name} {as_text(component, found[component.name])} is too old: "
            f"at least {as_text(component, minimum[component.name])} is needed",
            component.stem,
        )
        for component in COMPONENTS
        if component.name in found and found[component.name] < minimum.get(component.name, 0)
    ]
    cudnn, cublas = found.get("cuDNN", 0), found.get("cuBLAS", 0)
    if cudnn == 91000 and built.get("cuDNN") != 91000:
        # https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html#cudnn-9-10-1
        text = "cuDNN 9.10.0 numbers its block-scaled types in another way than every other version"
        problems.append(Problem(text, CUDNN.stem))
    elif 0 < cudnn < 91001 and cublas >= 120900 and devices > 1:
        # https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html#cudnn-9-10-0
        text = "cuDNN before 9.10.1 computes wrong products on several GPUs together with cuBLAS 12.9 or newer"
        problems.append(Problem(text, CUDNN.stem))
    return problems


def find_warnings(found: Mapping[str, int], capabilities: Sequence[int]) -> list[str]:
    """Return what may give wrong results under circumstances of which only the user knows."""
    # Tensor memory came with 10.0 and is absent from 12.0.
    if 120800 <= found.get("cuBLAS", 0) < 130200 and any(100 <= capability < 120 for capability in capabilities):
        return [CUBLAS_TENSOR_MEMORY]
    return []


def rounded_to_minor(component: Component, version: int) -> int:
    """Return a version without its patch level, for libraries whose patches fit each other in both directions."""
    return version // component.minor * component.minor
