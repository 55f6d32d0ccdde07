# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Code for NVIDIA's chips, as NVIDIA's own cuobjdump lists it.

Its lists take half a second for a library of 400 MB, and no space on disk.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode.code import order_names

_LINE = re.compile(r"(ELF|PTX) file +\d+: .+\.sm_(\d+[a-z]?)\.(?:cubin|ptx)")
_LISTED = ("ELF file", "PTX file")
_NOTHING = "does not contain device code"
_TIME_LIMIT = 300  # seconds; only a damaged file takes that long


def list_code(cuobjdump: Path, library: Path, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of SASS, such as `sm_90`, and of PTX, such as `compute_120`.

    Raises:
        ElfError: The program cannot be run, fails, or finds no code.
    """
    names = parse_listing(_run(cuobjdump, library, where), where)
    if not any(names):
        raise ElfError(
            f"cuobjdump finds no code in {where}, which has a section for it",
            cause="the library is damaged, or newer than the program",
            remedy="fetch it again, or pin a newer nvidia-cuda-cuobjdump",
        )
    return names


def parse_listing(text: str, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    r"""Return the names of SASS and of PTX in a list of cuobjdump.

    >>> parse_listing("ELF file    1: a.1.sm_120.cubin\nPTX file    1: a.1.sm_90a.ptx\n", "a.so")
    (('sm_120',), ('compute_90a',))

    Raises:
        ElfError: A line of the list names no version.
    """
    versions: dict[str, set[str]] = {"ELF": set(), "PTX": set()}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match:
            versions[match[1]].add(match[2])
        elif line.startswith(_LISTED):
            raise ElfError(f"cuobjdump names no architecture for a part of {where}", cause=f"it printed {line!r}")
    sass, ptx = (f"sm_{version}" for version in versions["ELF"]), (f"compute_{version}" for version in versions["PTX"])
    return order_names(sass), order_names(ptx)


def _run(cuobjdump: Path, library: Path, where: str) -> str:
    """Return what the program prints; nothing where it says that there is no code."""
    command = [str(cuobjdump), "--list-elf", "--list-ptx", str(library)]  # both in one run: each reads all of it
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
