# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open a plugin library in a process of its own and ask it what it is."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.inspect.facts import PluginFacts
from pjrtwheel.probe.run import Job, ask_plugin

_TIME_LIMIT = 120.0


def open_plugin(library: Path) -> PluginFacts:
    """Return what a library says about itself.

    Args:
        library: The library; what it needs must be found by the dynamic loader.

    Raises:
        ProofError: pypjrt is not installed.
    """
    answer = ask_plugin(library, Job.DESCRIBE, time_limit=_TIME_LIMIT)
    refused = answer.get("refused") or answer.get("broke")
    if refused:
        return PluginFacts(refused=str(refused))
    return PluginFacts(
        pjrt_api=".".join(map(str, answer["api_version"])),
        slots=answer["slots"],
        extensions=tuple(entry["name"] or f"type {entry['type']}" for entry in answer["extensions"]),
        attributes=answer["attributes"],
    )
