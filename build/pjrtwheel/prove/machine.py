# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""On which machine evidence was found: its processor and system, and of an accelerator the chip and the driver."""

from __future__ import annotations

import json
import platform
import re
import tempfile
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.processes import run_process
from pjrtwheel.prove.devices import Devices
from pjrtwheel.record.proofs import ProofMachine

_SECONDS = 120.0
_KEPT = 1_000_000  # characters; an answer lists libraries and kernels
_CPUINFO = Path("/proc/cpuinfo")


def find_machine(python: Path, backend: Backend | None, devices: Devices) -> ProofMachine:
    """Describe this machine, and the devices that JAX has there; the plugin's loader is asked for their driver."""
    here = ProofMachine(platform.platform(), find_processor(_CPUINFO))
    if backend is None or not devices.count:
        return here
    driver = "" if backend.is_cpu else ask_driver(python, backend)
    return ProofMachine(here.system, here.processor, devices.kind, devices.count, driver)


def find_processor(cpuinfo: Path) -> str:
    """Return what the processor calls itself in the kernel's list (proc(5)), or else its architecture."""
    text = cpuinfo.read_text("utf-8", "replace") if cpuinfo.is_file() else ""
    match = re.search(r"^model name\s*:\s*(\S.*)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.machine()


def ask_driver(python: Path, backend: Backend) -> str:
    """Return what `python -m <package> --json` says of the driver; nothing where it does not answer."""
    command = [str(python), "-I", "-m", backend.package, "--json"]
    with tempfile.TemporaryDirectory(prefix="driver-") as scratch:
        end = run_process(command, Path(scratch), _SECONDS, kept=_KEPT)
    return read_driver(end.output)


def read_driver(output: str) -> str:
    r"""Return the driver in a loader's answer, which warnings may surround.

    >>> read_driver('a warning\n{"vendor": {"driver": "580.82, CUDA 13.0"}}\n')
    '580.82, CUDA 13.0'
    >>> read_driver('{"vendor": null}'), read_driver("Traceback ...")
    ('', '')
    """
    start = re.search(r"^\{", output, re.MULTILINE)
    try:
        document, _ = json.JSONDecoder().raw_decode(output, start.start() if start else 0)
        return str(document["vendor"]["driver"] or "")
    except (ValueError, KeyError, TypeError):
        return ""
