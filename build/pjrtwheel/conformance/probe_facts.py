# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `plugins/<name>/probe.toml`: what PJRT's conformance checks meet on a machine without the device."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError

_FILENAME = "probe.toml"


@dataclass(frozen=True, slots=True)
class ProbeFacts:
    """What is to be expected of one backend.

    Attributes:
        environment: Variables the library needs in order not to search for its device for minutes.
        without_device: Check → what its message says when there is no device.
    """

    environment: dict[str, str] = field(default_factory=dict)
    without_device: dict[str, str] = field(default_factory=dict)

    def explains(self, check: str, detail: str) -> bool:
        """Tell whether the absence of the device explains a failed check."""
        return check in self.without_device and self.without_device[check] in detail


NO_FACTS = ProbeFacts()


def load_facts(root: Path, backend: Backend) -> ProbeFacts:
    """Read the facts of a backend from its own directory, or from one that it shares.

    Args:
        root: The repository.
        backend: The backend.

    Returns:
        The facts; empty ones if no such directory has any.
    """
    for name in (backend.name, *backend.shared):
        path = root / "plugins" / name / _FILENAME
        if path.is_file():
            return parse_facts(path.read_text("utf-8"), path)
    return NO_FACTS


def parse_facts(text: str, path: Path) -> ProbeFacts:
    """Turn the text of such a file into facts.

    Raises:
        UsageError: It is not TOML, has unknown keys, or values that are no texts.
    """
    try:
        table: dict[str, Any] = tomllib.loads(text)
        facts = ProbeFacts(**{key: _texts(value) for key, value in table.items()})
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise UsageError(f"malformed facts for the conformance checks: {path}", cause=str(error)) from error
    return facts


def _texts(table: object) -> dict[str, str]:
    """Return a table of texts, none of them empty: an empty one would excuse everything."""
    if not isinstance(table, dict) or not all(isinstance(value, str) and value for value in table.values()):
        raise TypeError(f"{table!r} is no table of texts")
    return table
