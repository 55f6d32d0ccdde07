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


def find_facts(backend: Backend) -> Path | None:
    """Return the file of a backend's own directory, or of one that it shares; nothing if no such directory has one."""
    plugins = backend.path.parent.parent
    paths = (plugins / name / _FILENAME for name in (backend.name, *backend.shared))
    return next((path for path in paths if path.is_file()), None)


def load_facts(backend: Backend) -> ProbeFacts:
    """Read the facts of a backend; empty ones if there are none.

    Raises:
        UsageError: They are malformed.
    """
    path = find_facts(backend)
    return parse_facts(path.read_text("utf-8"), path) if path else NO_FACTS


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
