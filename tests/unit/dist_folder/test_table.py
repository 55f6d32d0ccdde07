# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheels of a folder as a table that a workflow shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.cli import main
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries
from release_entries import entry_of
from release_under_test import ROOT


def test_every_wheel_has_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all that tells one release from another."""
    names = ("jaxlib-1.2.3-cp312-cp312-win_amd64.whl", "jaxlib_cpu-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl")
    entries = [entry_of(name, sha256="ab" * 32, size=1_250_000, lock_id="12345678ffff") for name in names]
    (tmp_path / RELEASE_FILENAME).write_text(format_entries({entry.filename: entry for entry in entries}), "utf-8")
    for name in names:
        (tmp_path / name).touch()
    assert main(["table", "--root", str(ROOT), "--dist", str(tmp_path)]) == 0
    rows = [f"| `{name}` | 1.2 MB | static | 12345678 | `{'ab' * 32}` |" for name in names]
    head = [f"### {tmp_path.name}/", "", "| wheel | size | proof | lock | sha256 |", "| --- | --- | --- | --- | --- |"]
    assert capsys.readouterr().out.splitlines() == [*head, *rows]
    monkeypatch.chdir(tmp_path)
    assert main(["table", "--root", str(ROOT), "--dist", "."]) == 0
    assert capsys.readouterr().out.splitlines() == [*head, *rows]
