# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is shown while something takes long, on a terminal and without one."""

import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pjrtwheel.progress import LogProgress

PROGRAM = """
import sys, time
from pjrtwheel.progress import open_progress
with open_progress() as progress:
    progress.say("begins")
    with progress.step("proofs", 2) as step:
        for name in ("jit", "[grad]"):
            with step.item(name):
                time.sleep(0.6)
    print("written by another")
"""


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        """Return the time that it has."""
        return self.now


def test_a_long_silence_is_broken_every_ten_seconds() -> None:
    """What runs is said again and again; what else is said counts as well, and is not doubled."""
    clock, stream = Clock(), io.StringIO()
    progress = LogProgress(stream, clock)
    clock.now += 100
    progress.beat()  # nothing runs
    with progress.step("Bazel") as step:
        for second in range(1, 25):
            clock.now += 1
            step.report(second, 40, "Assembling a")
            if second == 12:
                progress.say("a line")
            progress.beat()
    assert [line.partition(" Bazel")[0] for line in stream.getvalue().splitlines()] == [
        "[0:01:41]", "[0:01:50]", "a line", "[0:02:01]", "ok"
    ]  # fmt: skip
    assert "Bazel 1 of 40: 0:00:01 Assembling a" in stream.getvalue()


def test_the_log_is_written_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread watches while the context is entered, and none is left afterwards."""
    monkeypatch.setattr("pjrtwheel.progress._INTERVAL_S", 0.01)
    monkeypatch.setattr("pjrtwheel.progress.SILENCE_S", 0.0)
    stream = io.StringIO()
    with LogProgress(stream) as progress, progress.step("Bazel"):
        end = time.monotonic() + 10
        while not stream.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert stream.getvalue().startswith("[0:00:00] Bazel: 0:00:00\n")
    assert not progress._thread.is_alive()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_terminal_shows_what_runs(root: Path, encoding: str) -> None:
    """It changes in place, is removed in the end, and what other code prints stays whole above it."""
    reading, writing = pty.openpty()
    environ = {"PYTHONPATH": f"{root}/build:{root}/selector", "TERM": "xterm", "COLUMNS": "60"}
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environ = {**kept, **environ, "PYTHONIOENCODING": encoding}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=writing, stderr=writing, env=environ) as process:
        os.close(writing)
        written = b""
        try:
            while piece := os.read(reading, 1 << 16):
                written += piece
        except OSError:  # what reading from a terminal gives after its last writer has gone
            pass
        assert process.wait(30) == 0
    os.close(reading)
    assert encoding == "utf-8" or written.isascii()
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", written.decode())
    for text in ("proofs 0 of 2: 0:00:00", "proofs 1 of 2: ", "  jit", "  [grad]"):
        assert text in plain, text
    assert b"\x1b[2K" in written  # lines that were erased
    assert b"\x1b[32mok" in written
    lines = plain.replace("\r", "\n").split("\n")
    assert {"begins", "written by another", "ok proofs 2 of 2: 0:00:01"} <= set(lines)
