# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Finding the Bazel servers of a checkout."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.bazel.shutdown import find_servers


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
