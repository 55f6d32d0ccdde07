# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What each command prints is what `tests/data/transcripts/` has: a changed sentence changes one file there."""

import pytest

from pjrtwheel.cli.commands import COMMANDS
from transcripts import FOLDER, render


@pytest.mark.parametrize("command", COMMANDS)
def test_transcript(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`./noxw update transcripts` writes it."""
    monkeypatch.setenv("COLUMNS", "100")
    assert render(command) == (FOLDER / f"{command}.txt").read_text("utf-8")


def test_every_transcript_has_its_command() -> None:
    """None is left of a command that is gone."""
    assert {path.stem for path in FOLDER.iterdir()} == set(COMMANDS)
