# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about one major version of CUDA, and where its libraries are looked for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..pjrt.preload import Wanted

# Where system packages and NVIDIA's installers put a toolkit; {major} is the CUDA major version.
_HOMES = ("/usr/local/cuda-{major}", "/usr/local/cuda")
_HOME_FOLDERS = ("lib64", "extras/CUPTI/lib64")


@dataclass(frozen=True, slots=True)
class NvidiaLibrary:
    """A library of NVIDIA's.

    Attributes:
        soname: Its name for the dynamic linker.
        folder: Folder of its wheel below the package `nvidia`.
        project: The wheel's project on the package index.
        gpus: From how many GPUs on JAX needs it; 0 if only programs need it that ask for it.
    """

    soname: str
    folder: str
    project: str
    gpus: int = 1


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A major version of CUDA.

    Attributes:
        major: The version.
        driver: Oldest branch of NVIDIA's driver for Linux that can run it.
        older: Lower versions that there is a wheel of ours for.
        libraries: Its libraries, dependencies first.
        minimum: Component → oldest version that works.
        built: Component → the version the plugin was built with, where its kernels do not say it.
    """

    major: int
    driver: int
    older: Sequence[int]
    libraries: tuple[NvidiaLibrary, ...]
    minimum: Mapping[str, int]
    built: Mapping[str, int]


def read_toolkit(package: Path) -> Toolkit:
    """Return the CUDA that a wheel is for, from the file in its package."""
    table = tomllib.loads((package / "toolkit.toml").read_text("utf-8"))
    return Toolkit(**{**table, "libraries": tuple(NvidiaLibrary(**library) for library in table["libraries"])})


def toolkit_homes(major: int, environ: Mapping[str, str]) -> list[Path]:
    """Return where a toolkit may be installed, those that the user names first."""
    named = [environ[variable] for variable in ("CUDA_HOME", "CUDA_PATH") if environ.get(variable)]
    return [Path(home) for home in (*named, *(home.format(major=major) for home in _HOMES))]


def wanted_libraries(toolkit: Toolkit, roots: Sequence[Path], homes: Sequence[Path]) -> tuple[Wanted, ...]:
    """Return what to open, and where to look for it: folders of the package `nvidia`, and homes of toolkits."""
    last = tuple(home / folder for home in homes for folder in _HOME_FOLDERS)
    return tuple(
        Wanted(library.soname, tuple(root / library.folder / "lib" for root in roots), last)
        for library in toolkit.libraries
    )
