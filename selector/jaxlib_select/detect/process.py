# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a program that may hang, crash or print anything."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from jaxlib_select.detect.outcome import Outcome

_LARGEST = 1 << 20  # bytes of output that are looked at
_GRACE = 1.0  # seconds that a killed program gets to vanish; one stuck in the kernel never does


def run(command: Sequence[str], environ: Mapping[str, str], timeout: float) -> Outcome:
    """Run a program and return what became of it; never raises for what the program does.

    Args:
        command: Program and arguments.
        environ: Its whole environment.
        timeout: Seconds after which it and its children are killed.
    """
    try:
        process = subprocess.Popen(
            list(command),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=os.name == "posix",  # so that its children can be killed with it
        )
    except (OSError, ValueError):
        return Outcome(None)
    try:
        output, _ = process.communicate(timeout=timeout)
        return Outcome(process.returncode, _decode(output))
    except subprocess.TimeoutExpired:
        return Outcome(None, _decode(_kill(process)), timed_out=True)


def _kill(process: subprocess.Popen[bytes]) -> bytes:
    """Kill a program with its children and return what it had printed."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, 9)
        else:
            process.kill()
    except OSError:
        pass  # it ended just now
    try:
        return process.communicate(timeout=_GRACE)[0]
    except subprocess.TimeoutExpired:
        return b""


def _decode(output: bytes) -> str:
    return output[:_LARGEST].decode("utf-8", "replace")
