# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that are run by the Python of an environment under test, and commands of the tooling."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.environment.processes import clean_environ

# A program that hangs is a failure of its own kind; none of these computes for more than seconds,
# and no command takes half an hour.
TIMEOUT_S = 300
COMMAND_S = 1800

# A function of programs: a call → the name and the text of the exception that it ended with.
RAISED = """
def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)
"""


def free_port() -> int:
    """Return a port of loopback on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def run_code(
    python: Path,
    code: str,
    *arguments: str,
    folder: Path | None = None,
    inside: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run code as a user would, without this process's own settings.

    Args:
        python: The Python of the environment.
        code: The program.
        arguments: Its arguments.
        folder: Where it runs; made if need be.
        inside: A command that runs another one.
        environ: Further environment variables.
    """
    if folder is not None:
        folder.mkdir(exist_ok=True)
    return subprocess.run(
        [*inside, str(python), "-I", "-c", code, *arguments],
        cwd=folder,
        env=clean_environ(**(environ or {})),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def run_tooling(root: Path, *words: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command of a checkout's own tooling, which writes nothing into the checkout."""
    command = [sys.executable, "-m", "pjrtwheel", *map(str, words)]
    variables = {**os.environ, "PYTHONPATH": str(root / "build"), "PYTHONDONTWRITEBYTECODE": "1", **environ}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=COMMAND_S)
