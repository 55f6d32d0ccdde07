# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`./noxw NAME ARGUMENTS` without environments of its own: the command on the tests' Python."""

import os
import shlex
import sys
from pathlib import Path

from folders import write_program

ROOT = Path(__file__).resolve().parents[2]


def put_stand_in(folder: Path) -> Path:
    """Write it into a folder, which is the repository for what it runs."""
    names = shlex.quote(str(ROOT / "tests/support/session_stand_in.py"))
    return write_program(folder / "noxw", f'exec {shlex.quote(sys.executable)} {names} {shlex.quote(str(folder))} "$@"')


def main(root: str, words: list[str]) -> None:
    """Become the command."""
    program: dict[str, object] = {"__name__": "noxw", "__file__": str(ROOT / "noxw")}
    exec(compile((ROOT / "noxw").read_text("utf-8"), "noxw", "exec"), program)  # noqa: S102
    name, *arguments = program["read_words"](words)  # type: ignore[operator]
    words = [*program["find_command"](name), *arguments]  # type: ignore[operator]
    command = [sys.executable, "-m", "pjrtwheel", "--root", root, *words]
    os.execve(command[0], command, {**os.environ, "PYTHONPATH": str(ROOT / "build")})  # noqa: S606 - an argument list


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
