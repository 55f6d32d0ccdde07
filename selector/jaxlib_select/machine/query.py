# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask an NVIDIA library in a child process, because it may hang or crash, and read what the child printed."""

from __future__ import annotations

import os
import re
import sys

from jaxlib_select.machine.host import Host, ProcessResult
from jaxlib_select.machine.model import Nvidia, NvidiaGpu, Version
from jaxlib_select.sentences import printable

_NO_LIBRARY = 3  # exit status of the child
_LINE = re.compile(r"(version|init|count) (-?\d{1,12})")
_GPU = re.compile(r"gpu (-?\d{1,12}) (-?\d{1,12}) ?(.*)")
_NEWEST = 40  # major version of CUDA, and of a compute capability, beyond which an answer is false
_MOST = 1024  # devices


def query(host: Host, kind: str, library: str, timeout: float) -> tuple[Nvidia, list[str]]:
    """Ask a library in a child process."""
    script = os.path.join(os.path.dirname(__file__), "query_nvidia.py")
    if not sys.executable or getattr(sys, "frozen", False):
        return Nvidia(libcuda="absent"), [f"{library} was not asked: this Python cannot start another one"]
    result = host.run([sys.executable, "-I", "-S", script, kind, library], host.environ, timeout)
    return read_answer(result, library, timeout)


def read_answer(result: ProcessResult, library: str, timeout: float) -> tuple[Nvidia, list[str]]:
    """Turn the lines of the child into an answer; what was printed before a crash counts."""
    lines = result.output.splitlines()
    if result.status == _NO_LIBRARY:
        reason = next((line[5:] for line in lines if line.startswith("load ")), "")
        return Nvidia(libcuda="absent"), [f"{library} cannot be loaded: {reason}"]
    numbers = {found.group(1): int(found.group(2)) for found in map(_LINE.fullmatch, lines) if found}
    driver = next((line[7:] for line in lines if line.startswith("driver ")), None)
    gpus = tuple(_gpu(*found.groups()) for found in map(_GPU.fullmatch, lines) if found)
    notes = _false_answers(numbers, gpus, library)
    state, ending = _state(result, library, timeout)
    found = Nvidia(
        cuda=_version(numbers.get("version")),
        driver=None if driver is None else printable(driver),
        cuinit=numbers.get("init"),
        gpus=gpus,
        libcuda="odd" if state == "ok" and notes else state,
    )
    return found, [*ending, *notes]


def _state(result: ProcessResult, library: str, timeout: float) -> tuple[str, tuple[str, ...]]:
    """Return how the child ended, and a sentence if that was not well."""
    if result.timed_out:
        return "hung", (f"{library} did not answer within {timeout:g} s and was stopped",)
    if result.status == 0:
        return "ok", ()
    how = f"signal {-result.status}" if result.status is not None and result.status < 0 else f"status {result.status}"
    return "crashed", (f"the process that asked {library} ended with {how}",)


def _version(number: int | None) -> Version | None:
    """Return a CUDA version: 13000 is 13.0; None for what cannot be one."""
    if number is None or not 1 <= number // 1000 <= _NEWEST:
        return None
    return number // 1000, number % 1000 // 10


def _gpu(major: str, minor: str, name: str) -> NvidiaGpu:
    """Return a device; one with an impossible compute capability is kept without it."""
    possible = 1 <= int(major) <= _NEWEST and 0 <= int(minor) <= 9
    return NvidiaGpu((int(major), int(minor)) if possible else None, printable(name).strip() or None)


def _false_answers(numbers: dict[str, int], gpus: tuple[NvidiaGpu, ...], library: str) -> tuple[str, ...]:
    """Return a sentence for each answer that cannot be true."""
    found = []
    if "version" in numbers and _version(numbers["version"]) is None:
        found.append(f"{library} calls itself CUDA version {numbers['version']}, which cannot be")
    if not 0 <= numbers.get("count", 0) <= _MOST:
        found.append(f"{library} counts {numbers['count']} devices, which cannot be")
    if any(gpu.compute_capability is None for gpu in gpus):
        found.append(f"{library} names a compute capability that cannot be")
    return tuple(found)
