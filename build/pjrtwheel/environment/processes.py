# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a program under test in a process of its own, in a clean environment and within a time limit."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_R = TypeVar("_R")

_KEPT = 1_000_000  # characters of output; a plugin's answer lists libraries and kernels
_EXPLAINED = 4000  # of them, why a program failed
_CHANGING = ("JAX_", "JAXLIB_", "XLA_", "PJRT_", "TF_", "PYTHON", "VIRTUAL_ENV", "__PYVENV")
_running: set[int] = set()  # process groups, which a terminal does not interrupt


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    Attributes:
        status: Its exit status, negative for a signal; nothing if it was stopped at its time limit, in seconds.
        output: The end of what it printed.
    """

    status: int | None
    output: str
    limit: float

    def describe(self) -> str:
        """Say how the process ended, for one that left no result.

        >>> Ended(-11, "", 300).describe(), Ended(-35, "", 300).describe()  # the second is a real-time signal
        ('killed by SIGSEGV', 'killed by signal 35')
        """
        if self.status is None:
            return f"did not end within {self.limit:g} seconds"
        if self.status >= 0:
            return f"exit status {self.status}"
        number = -self.status
        return f"killed by {signal.Signals(number).name if number in set(signal.Signals) else f'signal {number}'}"

    def explain(self) -> str:
        """Return the same, with the end of the output below it."""
        return f"{self.describe()}\n{self.output[-_EXPLAINED:]}".strip()

    def last_line(self) -> str:
        """Return the last line of the output, empty if there is none."""
        return (self.output.strip().splitlines() or [""])[-1].strip()


def clean_environ(**extra: str) -> dict[str, str]:
    """Return this process's environment without what would change the programs under test."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_CHANGING)} | extra


def run_process(
    command: Sequence[str],
    seconds: float,
    *,
    environ: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> Ended:
    """Run a command in an empty folder and its own process group; at its time limit kill the whole group.

    Args:
        command: Program and arguments.
        seconds: Its time limit.
        environ: Its environment; a clean one when absent.
        variables: Variables that it needs in addition.
    """
    if environ is None:
        environ = clean_environ(JAX_TRACEBACK_FILTERING="off")  # else the last line is not the error
    with tempfile.TemporaryDirectory(prefix="process-") as folder:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environ, **(variables or {})},
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
            return Ended(None, output[-_KEPT:], seconds)
        except BaseException:
            _end_processes()
            raise
        finally:
            _running.discard(process.pid)
    return Ended(process.returncode, output[-_KEPT:], seconds)


def ask_process(
    command: Sequence[str], seconds: float, **environs: Mapping[str, str] | None
) -> tuple[dict[str, Any] | None, Ended]:
    """Run a command, see `run_process`, and return what it wrote as JSON to the file that its last argument names.

    Libraries print what they like, so standard output is no place for an answer. There is none where the process
    crashed or hung before it wrote one.
    """
    with tempfile.TemporaryDirectory(prefix="answer-") as scratch:
        answer = Path(scratch) / "answer.json"
        end = run_process([*command, str(answer)], seconds, **environs)
        return json.loads(answer.read_text("utf-8")) if answer.is_file() else None, end


def run_all(work: Callable[[T], _R], items: Iterable[T], jobs: int) -> tuple[_R, ...]:
    """Do some work on each item, which runs processes, in several threads; an interrupt ends what runs."""
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return tuple(pool.map(work, items))
        except BaseException:
            _end_processes()  # or the pool would wait for them
            raise


def _end_processes() -> None:
    """Kill whatever runs, of all threads: an interrupt reaches the main thread alone, and no other process group."""
    for group in tuple(_running):
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
