# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The page for those who receive a release: its commands run on the recorded one, and print what it says."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pjrtwheel.cli import main

PAGE = "docs/release/verify.md"
SAMPLE = "tests/data/release"
OFFLINE = ("Are the files whole", "Do they belong together", "Who made them")


def blocks(root: Path, section: str) -> list[tuple[str, str]]:
    """Return the commands of a section, each with what it prints according to the page."""
    text = (root / PAGE).read_text("utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [part for block in found for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    return [(command, printed) for command, _, printed in (part.partition("\n") for part in lines)]


@pytest.mark.parametrize("section", OFFLINE)
def test_the_commands_of_the_page_print_what_it_says(
    root: Path, section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A session runs as the command of the tooling that it stands for; making a release needs more than a sample."""
    shutil.copytree(root / SAMPLE, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    commands = [
        (command, printed)
        for command, printed in blocks(root, section)
        if not command.startswith(("openssl ", "./noxw -s attest"))
    ]
    assert commands
    for command, printed in commands:
        if command.startswith("./noxw -s "):
            session, _, *arguments = shlex.split(command.removeprefix("./noxw -s "))
            assert main([session, *arguments]) == 0
        else:
            subprocess.run(command, shell=True, check=True)  # noqa: S602 - the page's own line
        assert capfd.readouterr().out == printed
