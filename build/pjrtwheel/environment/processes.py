# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a program under test in a process of its own, within a time limit."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pjrtwheel.environment.venv import clean_environ

_KEPT = 4000  # characters of output
_running: set[int] = set()  # process groups, which a terminal does not interrupt


def run_process(command: Sequence[str], folder: Path, seconds: float, **environ: str) -> tuple[int | None, str]:
    """Run a command in its own process group; on timeout kill the whole group.

    Args:
        command: Program and arguments.
        folder: Where it runs.
        seconds: Its time limit.
        environ: Variables that it needs.

    Returns:
        Its status, or nothing if it was killed, and the end of what it printed.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=clean_environ(JAX_TRACEBACK_FILTERING="off", **environ),  # else the last line is not the error
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    _running.add(process.pid)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output[-_KEPT:]
    except BaseException:
        end_processes()
        raise
    finally:
        _running.discard(process.pid)
    return process.returncode, output[-_KEPT:]


def end_processes() -> None:
    """Kill whatever runs, of all threads: an interrupt reaches the main thread alone, and no other process group."""
    for group in tuple(_running):
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def describe_exit(status: int | None, seconds: float) -> str:
    """Say how a process ended that left no result.

    >>> describe_exit(-11, 300)
    'killed by SIGSEGV'
    >>> describe_exit(-35, 300)  # a real-time signal
    'killed by signal 35'
    """
    if status is None:
        return f"did not end within {seconds:g} seconds"
    if status >= 0:
        return f"exit status {status}"
    return f"killed by {signal.Signals(-status).name if -status in set(signal.Signals) else f'signal {-status}'}"
