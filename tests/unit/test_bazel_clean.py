# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Removing what is left of deleted checkouts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.bazel.clean import find_workspaces, is_orphaned, remove_workspace
from pjrtwheel.bazel.workspace import Workspace, prepare_workspace


@pytest.fixture
def make_checkout(tmp_path: Path) -> Callable[[str], Workspace]:
    """Return a factory: name → the mirror of a new checkout, which has one output of 4 KiB that cannot be written."""

    def make(name: str) -> Workspace:
        (tmp_path / name).mkdir()
        (tmp_path / name / "WORKSPACE").write_text("", "utf-8")
        workspace = prepare_workspace(tmp_path / name, tmp_path / "cache")
        outputs = workspace.outputs / "7.7.1" / "wheels"
        outputs.mkdir(parents=True)
        (outputs / "library.so").write_bytes(b"\1" * 4096)
        outputs.chmod(0o555)
        return workspace

    return make


def test_only_checkouts_that_are_gone_are_orphaned(make_checkout: Callable[[str], Workspace], tmp_path: Path) -> None:
    """The links of a mirror tell."""
    gone, here = make_checkout("gone"), make_checkout("here")
    shutil.rmtree(tmp_path / "gone")
    assert {entry: is_orphaned(entry) for entry in find_workspaces(tmp_path / "cache")} == {gone: True, here: False}


def test_outputs_without_a_mirror_are_orphaned(make_checkout: Callable[[str], Workspace], tmp_path: Path) -> None:
    """A removal that was cut short is finished by the next one."""
    workspace = make_checkout("here")
    shutil.rmtree(workspace.directory)
    assert [(entry, is_orphaned(entry)) for entry in find_workspaces(tmp_path / "cache")] == [(workspace, True)]


def test_read_only_outputs_are_removed(make_checkout: Callable[[str], Workspace], tmp_path: Path) -> None:
    """Mirror and outputs go, those of another checkout stay, and the space is counted."""
    gone, here = make_checkout("gone"), make_checkout("here")
    assert remove_workspace(gone, tmp_path / "cache") == 4096
    assert list(find_workspaces(tmp_path / "cache")) == [here]
    assert (here.outputs / "7.7.1" / "wheels" / "library.so").is_file()
