# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a program that may hang, crash or print anything."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO

from jaxlib_select.machine.host import ProcessResult

_LARGEST = 1 << 20  # bytes of output that are looked at
_PIECE = 1 << 16
_GRACE = 1.0  # seconds that a killed program gets to vanish; one stuck in the kernel never does


def run(command: Sequence[str], environ: Mapping[str, str], timeout: float) -> ProcessResult:
    """Run a program and return what became of it; never raises for what the program does."""
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
        return ProcessResult(None)
    chunks: list[bytes] = []
    # A thread, because Windows cannot wait for a pipe; a daemon, because a program stuck in the kernel keeps it open.
    reader = threading.Thread(target=_collect, args=(process.stdout, chunks), daemon=True)
    reader.start()
    end = time.monotonic() + timeout
    reader.join(timeout)
    ended = not reader.is_alive() and _has_ended(process, end - time.monotonic())
    if not ended:
        _kill(process)
        reader.join(_GRACE)
    output = b"".join(chunks).decode("utf-8", "replace")
    return ProcessResult(process.returncode if ended else None, output, timed_out=not ended)


def _collect(pipe: IO[bytes], chunks: list[bytes]) -> None:
    """Keep the start of what a program prints; one that goes on finds its pipe broken."""
    left = _LARGEST
    with pipe:
        while left > 0:
            chunk = os.read(pipe.fileno(), min(left, _PIECE))
            if not chunk:
                break
            chunks.append(chunk)
            left -= len(chunk)


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(max(seconds, 0))
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # it ended just now
        if os.name == "posix":
            os.killpg(process.pid, 9)
        else:
            process.kill()
    _has_ended(process, _GRACE)
