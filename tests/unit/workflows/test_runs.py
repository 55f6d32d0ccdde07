# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the runs of workflows on one machine say where they fail (tests/workflows)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workflow_reruns import read_failures
from workflow_runs import small_repository


def say(job: str, *step: str, **entry: Any) -> str:
    """Return what act prints of a step."""
    return json.dumps({"job": f"Release/{job}", "jobID": job, "stepID": step, "step": "sh check\nsh more", **entry})


def test_a_failure_is_told_in_the_words_of_its_step() -> None:
    """Of a composite action as well; not what act says of itself, nor what other steps printed."""
    log = [
        say("tag", "0", msg="fine\n", raw_output=True),
        say("tag", "0", msg="Success", stepResult="success"),
        say("check", "1", "0", msg="Run Main sh check"),
        say("check", "1", "0", msg="looking\n", raw_output=True),
        say("check", "1", "0", msg="::error::7.9 GB are free\n", command="error", arg="7.9 GB are free"),
        say("check", "1", "0", msg="Failure", stepResult="failure"),
        say("check", "1", msg="Failure", stepResult="failure"),
        "Error: Job 'check' failed",
    ]
    assert read_failures("\n".join(log)) == "Release/check: sh check\nlooking\n::error::7.9 GB are free\n"
    assert read_failures(log[0]) == ""


def test_a_disk_without_room_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a sentence with the numbers, before a job fails after minutes."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_500_000_000))
    said = rf"running the workflows takes up to \d+ GB at {tmp_path}, and 1\.5 GB are free"
    with pytest.raises(pytest.fail.Exception, match=said), small_repository(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
