# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The directory Bazel runs in, and the table it reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.bazel import backends_bzl
from pjrtwheel.bazel.backends_bzl import check_backends, render_backends
from pjrtwheel.bazel.workspace import is_safe, prepare_workspace, state_root
from pjrtwheel.errors import BazelError


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


def test_mirror_follows_the_checkout(checkout: Path, tmp_path: Path) -> None:
    """What disappears from the checkout disappears from the mirror, and what is new appears."""
    prepare_workspace(checkout, tmp_path / "cache")
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


def test_table_for_bazel_is_what_the_backend_files_say(root: Path) -> None:
    """Run `nox -s update_backends` after a change of a backend.toml."""
    check_backends(root)


def test_the_command_says_what_it_wrote(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever added a backend sees that it was found."""
    (tmp_path / "plugins" / "abacus").mkdir(parents=True)
    shutil.copy(root / "plugins" / "cpu" / "backend.toml", tmp_path / "plugins" / "abacus")
    assert backends_bzl.main(["--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "plugins/backends.bzl: 1 backend, abacus\n"
    check_backends(tmp_path)


def test_stale_table_is_refused_with_the_command(root: Path, tmp_path: Path) -> None:
    """A new backend directory without a refreshed table does not go unnoticed."""
    (tmp_path / "plugins" / "abacus").mkdir(parents=True)
    backend = (root / "plugins" / "cpu" / "backend.toml").read_text("utf-8")
    (tmp_path / "plugins" / "backends.bzl").write_text(render_backends(load_backends(tmp_path)), "utf-8")
    check_backends(tmp_path)
    (tmp_path / "plugins" / "abacus" / "backend.toml").write_text(backend, "utf-8")
    with pytest.raises(BazelError, match=r"plugins/backends\.bzl is stale"):
        check_backends(tmp_path)
