# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`./noxw -s SESSION... -- ARGUMENTS` without nox and its environments: the session's command on the tests' Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pjrtwheel.reference.sessions import load_noxfile
from release_under_test import ROOT


def put_stand_in(folder: Path) -> Path:
    """Write it into a folder, which is the repository for what it runs."""
    places = [str(ROOT / name) for name in ("build", "selector", "tests/support")]
    path = folder / "noxw"
    path.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path[:0] = {places!r}\n"
        "from session_stand_in import run_sessions\nsys.exit(run_sessions(sys.argv[1:]))\n"
    )
    path.chmod(0o755)
    return path


def run_sessions(words: list[str]) -> int:
    """Run the command of each session that is named, in order; return the status of the first that fails."""
    names, arguments = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    commands = load_noxfile(ROOT).COMMANDS
    root = Path(sys.argv[0]).resolve().parent
    for name in names[1:]:
        *_, command = commands[name]
        options = [] if name == "merge" else ["--root", str(root)]
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "build")}
        done = subprocess.run(
            [sys.executable, "-m", "pjrtwheel", *command, *options, *arguments], env=environ, check=False
        )
        if done.returncode:
            return done.returncode
    return 0
