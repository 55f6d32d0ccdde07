# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The directory Bazel runs in, and the table it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.bazel.workspace import is_safe, prepare_workspace, state_root


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a small checkout in a path that Bazel 4 refuses."""
    root = tmp_path / "ein Dépôt"
    (root / "plugins").mkdir(parents=True)
    (root / "WORKSPACE").write_text("", "utf-8")
    return root


def test_workspace_is_a_mirror_of_links_at_a_plain_path(checkout: Path, tmp_path: Path) -> None:
    """Bazel sees the checkout's files below a path without spaces, and nothing is written into the checkout."""
    before = sorted(checkout.rglob("*"))
    workspace = prepare_workspace(checkout, tmp_path / "cache")
    links = {path.name: path.readlink() for path in workspace.directory.iterdir()}
    assert links == {"WORKSPACE": checkout / "WORKSPACE", "plugins": checkout / "plugins"}
    assert is_safe(workspace.directory.relative_to(tmp_path))
    assert sorted(checkout.rglob("*")) == before
    (checkout / "WORKSPACE").unlink()
    (checkout / "releases").mkdir()
    workspace = prepare_workspace(checkout, tmp_path / "cache")
    assert sorted(path.name for path in workspace.directory.iterdir()) == ["plugins", "releases"]


def test_cache_that_bazel_refuses_is_avoided(tmp_path: Path) -> None:
    """Bazel's state goes elsewhere when the cache's path has a space; the downloads stay."""
    assert state_root(tmp_path / "mein Lager", tmp_path / "plain") == tmp_path / "plain"


@pytest.mark.parametrize("path", ["/a b", "/é", "/a:b"])
def test_paths_that_bazel_refuses(path: str) -> None:
    """Spaces, letters beyond ASCII and colons."""
    assert not is_safe(Path(path))
