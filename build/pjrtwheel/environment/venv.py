# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Clean environments: a fresh venv into which wheels are installed by their plain names, without the network."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.errors import ProofError


def scratch_place(cache: Path) -> Path:
    """Return where environments are staged, so that a later run can remove those of runs that were killed."""
    return cache / "environments"


def create_venv(interpreter: Interpreter, target: Path, *, system: bool = False) -> Path:
    """Make an empty environment without pip, and return its Python.

    It may see what is installed with the interpreter (`system`).

    Raises:
        ProofError: The interpreter cannot make one.
    """
    options = ["--without-pip", "--clear", *(["--system-site-packages"] if system else [])]
    result = run_tool([str(interpreter.path), "-I", "-m", "venv", *options, str(target)])
    if result.returncode != 0:
        raise ProofError(
            f"{interpreter.path} cannot make a virtual environment",
            cause=last_lines(result.stderr or result.stdout),
            remedy="on Debian: apt-get install python3-venv",
        )
    return target / "bin" / "python"


def install(python: Path, requirements: Sequence[str], folders: Iterable[Path], *, dependencies: bool = True) -> None:
    """Install from folders of wheels alone, without the network, with uv where it is installed.

    Raises:
        ProofError: The wheels do not install together.
    """
    options = [] if dependencies else ["--no-deps"]
    links = [f"--find-links={folder.resolve()}" for folder in folders]
    uv = find_uv()
    # uv's cache knows a wheel of a folder by its name alone, and would install the one of an earlier build.
    command = (
        [str(uv), "pip", "install", "--quiet", "--python", str(python), "--no-index", "--no-cache"]
        if uv
        else [*pip_command(python), "install", "--quiet", "--no-index", "--no-compile"]
    )
    result = run_tool([*command, *options, *links, *requirements])
    if result.returncode != 0:
        raise ProofError(
            f"the wheels do not install together: {' '.join(requirements)}",
            cause=last_lines(result.stderr or result.stdout),
            remedy="see that the folders hold wheels of one build, and all that they require (Requires-Dist)",
        )


def find_uv() -> Path | None:
    """Return uv's executable if it is installed with us or on PATH."""
    if importlib.util.find_spec("uv") is not None:
        return Path(importlib.import_module("uv").find_uv_bin())
    found = shutil.which("uv")
    return Path(found) if found else None


def pip_command(python: Path) -> list[str]:
    """Return the command that runs this environment's pip on behalf of another environment."""
    return [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--no-input"]


def run_tool(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a tool that makes or fills an environment, and return what it printed."""
    return subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environ())


def last_lines(text: str, count: int = 4) -> str:
    """Return the last lines of what a tool printed."""
    return "\n".join(line.strip() for line in text.strip().splitlines()[-count:])
