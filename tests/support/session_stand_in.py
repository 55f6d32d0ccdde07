# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`./noxw -s SESSION... -- ARGUMENTS` without nox and its environments: the session's command on the tests' Python."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from release_under_test import ROOT


@functools.cache
def load_noxfile(root: Path) -> ModuleType:
    """Import the noxfile, which makes its sessions known to nox and looks at the arguments of this process."""
    spec = importlib.util.spec_from_file_location("noxfile", root / "noxfile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before, sys.argv = sys.argv, ["nox"]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.argv = before
    return module


def put_stand_in(folder: Path) -> Path:
    """Write it into a folder, which is the repository for what it runs; either path may have spaces."""
    path = folder / "noxw"
    code = f"import session_stand_in, sys; sys.exit(session_stand_in.run_sessions({str(folder)!r}, sys.argv[1:]))"
    places = os.pathsep.join(str(ROOT / name) for name in ("build", "selector", "tests/support"))
    command = shlex.join(["env", f"PYTHONPATH={places}", sys.executable, "-c", code])
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)
    return path


def run_sessions(root: str, words: list[str]) -> int:
    """Run the command of each session that is named, in order; return the status of the first that fails."""
    names, arguments = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    commands = load_noxfile(ROOT).COMMANDS
    for name in names[1:]:
        *_, command = commands[name]
        options = [] if name == "merge" else ["--root", root]
        done = subprocess.run([sys.executable, "-m", "pjrtwheel", *command, *options, *arguments], check=False)
        if done.returncode:
            return done.returncode
    return 0
