# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is shown while something takes long, on a terminal and without one."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from pjrtwheel.progress import LINES, Item, Progress, open_progress
from pjrtwheel.progress.layout import UNICODE
from pjrtwheel.progress.lines import HeartbeatProgress, LineProgress
from pjrtwheel.progress.live import LiveProgress

PROGRAM = """
import sys, time
from pjrtwheel.progress import open_progress
with open_progress() as progress:
    progress.say("begins")
    with progress.step("proofs", 2) as step:
        for name in ("jit", "grad"):
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
    progress = HeartbeatProgress(stream, clock)
    with progress.step("Bazel") as step:
        for second in range(1, 36):
            clock.now = 100.0 + second
            step.report(second, 40, [Item("Assembling a", 100.0)])
            if second == 12:
                progress.say("a line")
            progress.beat()
    assert stream.getvalue().splitlines() == [
        "[9 s] Bazel 9 of 40 for 9 s: Assembling a (9 s)",
        "a line",
        "[21 s] Bazel 21 of 40 for 21 s: Assembling a (21 s)",
        "[30 s] Bazel 30 of 40 for 30 s: Assembling a (30 s)",
        "ok Bazel: 35 s",
    ]


def test_nothing_is_said_where_nothing_runs() -> None:
    """Between steps, and where a command has none."""
    clock, stream = Clock(), io.StringIO()
    progress = HeartbeatProgress(stream, clock)
    clock.now += 100
    progress.beat()
    assert stream.getvalue() == ""


def test_the_heartbeat_beats_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread watches while the context is entered, and none is left afterwards."""
    monkeypatch.setattr("pjrtwheel.progress.lines._INTERVAL_S", 0.01)
    monkeypatch.setattr("pjrtwheel.progress.lines.SILENCE_S", 0.0)
    stream = io.StringIO()
    with HeartbeatProgress(stream) as progress, progress.step("Bazel"):
        end = time.monotonic() + 10
        while not stream.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert stream.getvalue().startswith("[0 s] Bazel for 0 s\n")
    assert not progress._thread.is_alive()


@pytest.mark.parametrize(("fails", "line"), [(False, "ok verify: 2 in 3 s"), (True, "failed verify 1 of 2: 3 s")])
def test_how_a_step_ends(fails: bool, line: str) -> None:  # noqa: FBT001
    """It failed if an error left it, and counts what was done until then."""
    clock, stream = Clock(), io.StringIO()

    def work(progress: Progress) -> None:
        with progress.step("verify", 2) as step:
            with step.item("a"):
                clock.now += 3
            if fails:
                raise ValueError
            with step.item("b"):
                pass

    try:
        work(HeartbeatProgress(stream, clock))
    except ValueError:
        assert fails
    assert stream.getvalue().splitlines() == [line]


def test_what_is_watched_does_not_hide_an_error() -> None:
    """A folder that is watched may be gone by then; the step has ended all the same."""
    progress = HeartbeatProgress(io.StringIO(), Clock())

    def vanish(_now: float) -> list[Item]:
        raise FileNotFoundError

    with pytest.raises(ValueError, match="the real one"), progress.step("Bazel") as step:  # noqa: PT012
        step.watch(vanish)
        raise ValueError("the real one")
    assert progress.activities() == ()


def test_a_step_that_says_it_failed() -> None:
    """As that of a program with a bad exit status, whose error is made of its output."""
    stream = io.StringIO()
    with HeartbeatProgress(stream, Clock()).step("Bazel") as step:
        step.fail()
    assert stream.getvalue() == "failed Bazel: 0 s\n"


def test_an_item_is_shown_while_it_runs() -> None:
    """Under the name that it has by then, next to what is watched; afterwards it counts as done."""
    clock = Clock()
    with LineProgress(io.StringIO(), clock).step("verify", 1) as step:
        step.watch(lambda now: [Item("a.whl", now, 1, 2)])
        with step.item("a: contents") as item:
            item.rename("a: twine")
            during = step.snapshot()
        after = step.snapshot()
    assert [(one.name, one.received) for one in during.items] == [("a.whl", 1), ("a: twine", None)]
    assert (during.done, after.done, len(after.items)) == (0, 1, 1)


def test_commands_with_short_steps_print_what_is_said_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """On the stream for errors, whichever that is by then."""
    with LINES.step("verify"):
        LINES.say("a line")
    assert capsys.readouterr() == ("", "a line\n")


class Screen(io.StringIO):
    """A stream that is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Return what terminals do."""
        return True


@pytest.mark.parametrize(
    ("stream", "term", "kind"),
    [
        (Screen(), "xterm", LiveProgress),
        (Screen(), "dumb", HeartbeatProgress),
        (Screen(), "", HeartbeatProgress),
        (io.StringIO(), "xterm", HeartbeatProgress),
    ],
    ids=["terminal", "dumb", "unset", "log"],
)
def test_the_kind_follows_from_the_output(stream: io.StringIO, term: str, kind: type[Progress]) -> None:
    """Only where lines can be changed in place they are."""
    assert type(open_progress(stream, {"TERM": term})) is kind


def test_what_is_said_is_folded_between_words() -> None:
    """Lines go on further in; a command stays whole, to be pasted."""
    stream = Screen()
    progress = LiveProgress(Console(file=stream, width=30), UNICODE)
    progress.say("cuda13: aot, not device: no NVIDIA GPU found\n./noxw -s smoke_cuda13 -- --dist dist")
    assert stream.getvalue().splitlines() == [
        "cuda13: aot, not device: no",
        "    NVIDIA GPU found",
        "./noxw -s smoke_cuda13 -- --dist dist",
    ]


def run_on_terminal(root: Path, **environ: str) -> str:
    """Return what the program writes to a terminal, with the codes that the terminal obeys."""
    reading, writing = pty.openpty()
    variables = {
        **os.environ,
        "PYTHONPATH": f"{root}/build:{root}/selector",
        "TERM": "xterm",
        "COLUMNS": "60",
        **environ,
    }
    variables.pop("NO_COLOR", None) if "NO_COLOR" not in environ else None
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=writing, stderr=writing, env=variables) as process:
        os.close(writing)
        written = b""
        try:
            while piece := os.read(reading, 1 << 16):
                written += piece
        except OSError:  # what reading from a terminal gives after its last writer has gone
            pass
        assert process.wait(30) == 0
    os.close(reading)
    return written.decode()


def test_a_terminal_shows_what_runs(root: Path) -> None:
    """It changes in place, is removed in the end, and what other code prints stays whole above it."""
    written = run_on_terminal(root, PYTHONIOENCODING="utf-8")
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", written)
    for text in ("▸ proofs 0 of 2", "▸ proofs 1 of 2", "    jit", "    grad", "total"):
        assert text in plain, text
    assert "\x1b[2K" in written  # lines that were erased
    assert "\x1b[32m✓" in written
    lines = plain.replace("\r", "\n").split("\n")
    assert [line for line in lines if line.startswith("✓")] == ["✓ proofs: 2 in 1 s"]
    assert {"begins", "written by another"} <= set(lines)
    assert max(map(len, lines)) <= 60


def test_a_terminal_without_colour_or_signs(root: Path) -> None:
    """`NO_COLOR` is obeyed, and a locale that is not UTF-8 gets plain ASCII."""
    written = run_on_terminal(root, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert "\x1b[32m" not in written
    assert "ok proofs: 2 in 1 s" in re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", written)
    assert written.isascii()
