# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repositories of git that tests make."""

import os
import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, as somebody and with nobody's settings; return its answer."""
    people = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environ = {**os.environ, **people, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "init.defaultBranch=main", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environ).stdout
