# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A job that would fill the disk ends at once, with the figures."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import check_disk


@pytest.fixture(autouse=True)
def _free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every disk have twelve and a half gigabytes."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=12_500_000_000))


def test_enough_room_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures are in the log for whoever raises them."""
    check_disk.main(["12", str(tmp_path)])
    assert capsys.readouterr().out == "12.5 GB are free, up to 12 GB are needed\n"


def test_too_little_room_is_an_error_of_the_workflow() -> None:
    """As an annotation, which the server shows on the run's first page."""
    with pytest.raises(SystemExit, match=r"^::error::12\.5 GB are free, what follows takes up to 13 GB; "):
        check_disk.main(["13"])
