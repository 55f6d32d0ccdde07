# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Code for NVIDIA's chips, as NVIDIA's own cuobjdump lists it.

Its lists take about a second for a library of 500 MB, and no space on disk.
"""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode.code import order_names

_LINE = re.compile(r"(?:ELF|PTX) file +\d+: .+\.sm_(\d+[a-z]?)\.(?:cubin|ptx)")
_LISTED = ("ELF file", "PTX file")
_NOTHING = "does not contain device code"
_TIME_LIMIT = 300  # seconds; only a damaged file takes that long


def list_code(cuobjdump: Path, library: Path, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of SASS, such as `sm_90`, and of PTX, such as `compute_120`.

    Raises:
        ElfError: The program cannot be run, fails, or finds no code.
    """
    with ThreadPoolExecutor() as pool:  # each list reads the whole library
        listings = pool.map(lambda option: _run(cuobjdump, option, library, where), ("--list-elf", "--list-ptx"))
        sass, ptx = (parse_listing(listing, where) for listing in listings)
    if not sass and not ptx:
        raise ElfError(
            f"cuobjdump finds no code in {where}, which has a section for it",
            cause="the library is damaged, or newer than the program",
            remedy="fetch it again, or pin a newer nvidia-cuda-cuobjdump",
        )
    return order_names(f"sm_{version}" for version in sass), order_names(f"compute_{version}" for version in ptx)


def parse_listing(text: str, where: str) -> frozenset[str]:
    r"""Return the versions that a list of cuobjdump names.

    >>> sorted(parse_listing("ELF file    1: a.1.sm_120.cubin\nELF file    2: a.2.sm_90a.cubin\n", "a.so"))
    ['120', '90a']

    Raises:
        ElfError: A line of the list names no version.
    """
    versions = set()
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match:
            versions.add(match[1])
        elif line.startswith(_LISTED):
            raise ElfError(f"cuobjdump names no architecture for a part of {where}", cause=f"it printed {line!r}")
    return frozenset(versions)


def _run(cuobjdump: Path, option: str, library: Path, where: str) -> str:
    """Return what the program prints; nothing where it says that there is no such code."""
    command = [str(cuobjdump), option, str(library)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIME_LIMIT)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise ElfError(
            f"cannot list the GPU code of {where}: {error}",
            cause="NVIDIA's cuobjdump is missing, not executable, made for another machine, or did not come back",
        ) from error
    said = result.stdout + result.stderr
    if result.returncode and _NOTHING not in said:
        lines = said.strip().splitlines() or ["it printed nothing"]
        raise ElfError(f"cuobjdump failed on {where} with status {result.returncode}", cause=lines[-1])
    return result.stdout
