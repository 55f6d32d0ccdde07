# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a machine has is seen anew each time, so that kept evidence does not outlive a change of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pjrtwheel.prove.machine import describe_machine, find_nodes


def test_nodes_below_folders_are_found() -> None:
    """Terminals and plain files are none."""
    nodes = dict(find_nodes(Path("/dev")))
    assert nodes["null"] is True
    assert [name for name in nodes if name.startswith(("pts/", "shm/"))] == []


def test_a_node_below_a_folder_is_found(tmp_path: Path) -> None:
    """As of a graphics card; a link to one counts like the node itself, but not what each process has anew."""
    (tmp_path / "dri").mkdir()
    (tmp_path / "dri/renderD128").symlink_to(os.devnull)
    (tmp_path / "dri/text").touch()
    (tmp_path / "stdin").symlink_to(os.devnull)
    assert list(find_nodes(tmp_path)) == [("dri/renderD128", True)]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return the root of a machine with an empty installation of a vendor's libraries."""
    for folder in ("dev", "etc", "opt/vendor/lib", "home/lib"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def test_every_change_is_seen(machine: Path) -> None:
    """A library in a backend's folder or the user's, a package of the system, a variable: each is another machine."""
    environ = {"ABACUS_HOME": str(machine / "home"), "TERM": "xterm"}

    def look(**extra: str) -> object:
        return describe_machine(environ | extra, ["/opt/vendor/lib", "$ORIGIN"], ["ABACUS_"], machine)

    seen = [look(), look(LD_LIBRARY_PATH="/nowhere"), look(ABACUS_BEADS="1")]
    for name in ("opt/vendor/lib/libone.so.1", "home/lib/libtwo.so", "etc/ld.so.cache"):
        (machine / name).write_bytes(b"1")
        seen.append(look())
    os.utime(machine / "etc/ld.so.cache", ns=(1, 1))
    seen.append(look())
    (machine / "opt/vendor/toolkit-2").mkdir()
    seen.append(look())
    (machine / "dev/kfd").symlink_to(os.devnull)
    seen.append(look())
    assert len(set(seen)) == len(seen)
    assert look() == look(TERM="dumb")
