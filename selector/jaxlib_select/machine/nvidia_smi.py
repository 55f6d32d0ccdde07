# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the program nvidia-smi says: the last thing asked, since it may print anything."""

from __future__ import annotations

import re

from jaxlib_select.machine.host import Host, ProcessResult
from jaxlib_select.machine.model import Nvidia, NvidiaGpu, Version
from jaxlib_select.sentences import printable

_CUDA = re.compile(r"CUDA (?:UMD )?Version\s*:\s*(\d{1,2})\.(\d{1,2})")
_UNKNOWN = re.compile(r"\[.*\]|N/A")  # in place of a value that it does not know, such as [N/A] or [GPU is lost]
_CAPABILITY = re.compile(r"(\d{1,2})\.(\d)")
_DRIVER = re.compile(r"\d{3}\.\d+(\.\d+)?")
_SHOWN = 120  # characters of what it printed
_QUERY = "--query-gpu=name,compute_cap,driver_version"


def list_gpus(host: Host, timeout: float) -> tuple[Nvidia | None, list[str]]:
    """Return the GPUs that nvidia-smi lists, or nothing; and a sentence if it is there, but lists none."""
    program = host.find_program("nvidia-smi.exe" if host.system == "windows" else "nvidia-smi")
    if program is None:
        return None, []
    listed = host.run([program, _QUERY, "--format=csv,noheader"], host.environ, timeout)
    rows = [row for row in map(_row, listed.output.splitlines()) if row] if listed.status == 0 else []
    if not rows:
        return None, [_describe(listed, timeout)]
    report = host.run([program, "-q"], host.environ, timeout)
    return Nvidia(
        cuda=_cuda(report.output) if report.status == 0 else None,
        driver=rows[0][1],
        gpus=tuple(gpu for gpu, _ in rows),
        source="nvidia-smi",
    ), []


def _describe(listed: ProcessResult, timeout: float) -> str:
    if listed.timed_out:
        return f"nvidia-smi did not answer within {timeout:g} s and was stopped"
    line = next((line.strip() for line in listed.output.splitlines() if line.strip()), "")
    words = f": {printable(line[:_SHOWN])}" if line else ""
    if listed.status == 0:
        return f"nvidia-smi lists no GPU{words}"
    how = "could not be started" if listed.status is None else f"failed with status {listed.status}"
    return f"nvidia-smi {how}{words}"


def _row(line: str) -> tuple[NvidiaGpu, str | None] | None:
    """Read `NVIDIA H100, 9.0, 580.95.05`; names may hold commas, any field may be `[N/A]`."""
    fields = [field.strip() for field in line.rsplit(",", 2)]
    if len(fields) != 3:
        return None
    capability = _CAPABILITY.fullmatch(fields[1])
    driver = _DRIVER.match(fields[2])
    nameless = not fields[0] or _UNKNOWN.fullmatch(fields[0])
    if capability is None and driver is None and (nameless or not all(map(_UNKNOWN.fullmatch, fields[1:]))):
        return None
    numbers = (int(capability.group(1)), int(capability.group(2))) if capability else None
    return NvidiaGpu(numbers, printable(fields[0]) or None), driver.group() if driver else None


def _cuda(report: str) -> Version | None:
    found = _CUDA.search(report)
    return (int(found.group(1)), int(found.group(2))) if found else None
