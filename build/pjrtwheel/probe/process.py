# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open a plugin library in a process of its own, which may crash or hang, and bring back what was found."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from pjrtwheel.errors import ProofError

_CHILD = Path(__file__).with_name("inside.py")


class Job(StrEnum):
    """What is asked of the process."""

    DESCRIBE = "describe"
    CHECK = "check"


def ask_plugin(
    library: Path, job: Job, *, time_limit: float, environ: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what the process wrote about a library.

    Args:
        library: The plugin library.
        job: What to find out.
        time_limit: Seconds after which the process is ended.
        environ: Its environment; that of this process when absent.

    Returns:
        A report of pypjrt; or `refused` where the library does not open; or `broke` where the process crashed or hung.

    Raises:
        ProofError: pypjrt is not installed.
    """
    if importlib.util.find_spec("pypjrt") is None:
        raise ProofError(
            "plugins cannot be asked: there is no pypjrt",
            remedy="install the dependency group build of pyproject.toml, which pins it",
        )
    with tempfile.TemporaryDirectory(prefix="probe-") as scratch:
        answer = Path(scratch) / "answer.json"
        command = [sys.executable, "-I", str(_CHILD), job, str(library.resolve()), str(answer)]
        variables = os.environ if environ is None else environ
        try:
            result = subprocess.run(
                command, capture_output=True, check=False, cwd=scratch, env=variables, timeout=time_limit
            )
        except subprocess.TimeoutExpired:
            return {"broke": f"it did not end within {time_limit:.0f} s"}
        if not answer.is_file():
            return {"broke": _describe_end(result)}
        document: dict[str, Any] = json.loads(answer.read_text("utf-8"))
        return document


def _describe_end(result: subprocess.CompletedProcess[bytes]) -> str:
    """Say how the process ended without an answer."""
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines() or ["it left no output"]
    how = f"signal {-result.returncode}" if result.returncode < 0 else f"status {result.returncode}"
    return f"it ended with {how}: {lines[-1].strip()}"
