# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that detection starts: their time limits, and what they may print."""

import json
import sys
import time

import pytest

from hosts import LIBCUDA, MakeHost, said
from jaxlib_select.errors import UsageError
from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.file import parse_machine, to_json
from jaxlib_select.machine.host import ProcessResult, this_host
from jaxlib_select.machine.model import Nvidia, NvidiaGpu
from jaxlib_select.machine.process import run
from jaxlib_select.machine.query import read_answer


@pytest.mark.parametrize(("text", "seconds"), [("2.5", 2.5), ("0.001", 0.1), ("1e9", 600), ("inf", 600), ("", 10)])
def test_the_time_limit_can_be_set(text: str, seconds: float) -> None:
    """Within reason."""
    assert this_host({"JAXLIB_SELECT_TIMEOUT": text}).timeout == seconds


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "10s"])
def test_a_time_limit_that_is_none_is_refused(text: str) -> None:
    """The user means something by it."""
    with pytest.raises(UsageError, match=f"JAXLIB_SELECT_TIMEOUT={text}"):
        this_host({"JAXLIB_SELECT_TIMEOUT": text})


def test_a_slow_program_is_stopped_with_its_children() -> None:
    """Its output so far is kept."""
    child = "[sys.executable, '-c', 'import time; time.sleep(60)']"
    script = f"import subprocess, sys; print('early', flush=True); subprocess.run({child})"
    start = time.monotonic()
    result = run([sys.executable, "-I", "-c", script], {}, 1.0)
    assert time.monotonic() - start < 10
    assert result == ProcessResult(None, "early\n", timed_out=True)


def test_a_program_may_be_absent_or_print_garbage() -> None:
    """Neither raises."""
    assert run(["/nowhere/at-all"], {}, 1.0) == ProcessResult(None)
    script = "import sys; sys.stdout.buffer.write(b'\\xff ok'); sys.exit(4)"
    assert run([sys.executable, "-I", "-c", script], {}, 30.0) == ProcessResult(4, "\ufffd ok")


def test_a_flood_is_cut_off() -> None:
    """Neither time nor memory is spent on it."""
    start = time.monotonic()
    result = run([sys.executable, "-I", "-c", "while True: print('y' * 9999)"], {}, 30.0)
    assert time.monotonic() - start < 10
    assert (result.status in {None, 0}, len(result.output), result.timed_out) == (False, 1 << 20, False)


def test_garbage_that_a_library_prints_is_ignored() -> None:
    """Only whole lines of the agreed form count, such as a library's own chatter does not have."""
    chatter = said("hello", "version x", "gpu", "version 13000 ", "init 0", "gpu 9 0")
    assert read_answer(chatter, "libcuda.so.1", 1) == (
        Nvidia(None, cuinit=0, gpus=(NvidiaGpu((9, 0)),), libcuda="ok"),
        [],
    )


def test_what_cannot_be_printed_forges_no_lines(make_host: MakeHost) -> None:
    """Names from drivers and values of variables become texts that a machine file may hold."""
    host = make_host(
        {LIBCUDA: ""},
        {"libcuda": said("version 13000", "init 0", "count 1", "gpu 9 0 H100\x1b[2J\t80GB")},
        environ={"CUDA_VISIBLE_DEVICES": "0\nchosen  cpu", "TPU_VISIBLE_CHIPS": "\udcff"},
    )
    machine = detect(host)
    assert machine.nvidia.gpus == (NvidiaGpu((9, 0), "H100?[2J 80GB"),)
    assert machine.visible == {"CUDA_VISIBLE_DEVICES": "0 chosen  cpu", "TPU_VISIBLE_CHIPS": "?"}
    assert parse_machine(json.dumps(to_json(machine))) == machine
