# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The directory Bazel runs in, and removing what is left of deleted checkouts."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.bazel.workspace import (
    Workspace,
    end_servers,
    find_servers,
    find_workspaces,
    is_orphaned,
    is_safe,
    prepare_workspace,
    remove_workspace,
    state_root,
)
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
    (checkout / "WORKSPACE").unlink()
    (checkout / "releases").mkdir()
    workspace = prepare_workspace(checkout, tmp_path / "cache")
    assert sorted(path.name for path in workspace.directory.iterdir()) == ["plugins", "releases"]


def test_cache_that_bazel_refuses_is_avoided(tmp_path: Path) -> None:
    """Bazel's state goes elsewhere when the cache's path has a space; the downloads stay."""
    assert state_root(tmp_path / "mein Lager", tmp_path / "plain") == tmp_path / "plain"


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


def test_outputs_of_checkouts_that_are_gone_are_removed(
    make_checkout: Callable[[str], Workspace], tmp_path: Path
) -> None:
    """The links of a mirror show it; those of a checkout that is there go on demand, and the space is counted."""
    gone, cut, here = make_checkout("gone"), make_checkout("cut"), make_checkout("here")
    shutil.rmtree(tmp_path / "gone")
    shutil.rmtree(cut.directory)  # a removal that was cut short is finished by the next one
    found = {entry: is_orphaned(entry) for entry in find_workspaces(tmp_path / "cache")}
    assert found == {gone: True, cut: True, here: False}
    assert [remove_workspace(entry, tmp_path / "cache") for entry in (gone, cut, here)] == [4096, 4096, None]
    assert (here.outputs / "7.7.1" / "wheels" / "library.so").is_file()
    assert remove_workspace(here, tmp_path / "cache", orphaned=False) == 4096
    assert list(find_workspaces(tmp_path / "cache")) == []


def test_nothing_is_removed_beneath_a_server(tmp_path: Path) -> None:
    """One that does not end is an error."""
    server = tmp_path / "outputs" / "7.7.1" / "wheels" / "server"
    server.mkdir(parents=True)
    deaf = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", deaf, str(server.parent)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (server / "server.pid.txt").write_text(str(process.pid), "utf-8")
        with pytest.raises(BazelError, match=f"Bazel server {process.pid} does not end"):
            end_servers(tmp_path / "outputs", patience=0.1)
        process.kill()


def test_only_living_servers_of_this_checkout_are_found(tmp_path: Path) -> None:
    """A server that died, and a process that took over its id, are left alone."""
    outputs, processes = tmp_path / "outputs", tmp_path / "proc"
    commands = {101: "java --output_base={base}", 102: "java --output_base=/another", 103: None}
    for identity, command in commands.items():
        base = outputs / "4.2.3" / f"kind{identity}"
        (base / "server").mkdir(parents=True)
        (base / "server" / "server.pid.txt").write_text(f"{identity}\n", "utf-8")
        if command:
            (processes / str(identity)).mkdir(parents=True)
            (processes / str(identity) / "cmdline").write_text(command.format(base=base).replace(" ", "\0"), "utf-8")
    assert find_servers(outputs, processes) == (101,)
