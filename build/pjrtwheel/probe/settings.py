# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `plugins/<name>/probe.toml`: what PJRT's conformance checks need and find on a machine without the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError

_FILENAME = "probe.toml"


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """How one backend is probed.

    Attributes:
        environment: Variables the library needs in order not to search for its device for minutes.
        without_device: Check → what its message says when there is no device.
    """

    environment: Mapping[str, str] = tables.column(pattern="(?s).+", default_factory=dict)
    # An empty message would excuse every failure.
    without_device: Mapping[str, str] = tables.column(pattern="(?s).+", default_factory=dict)

    def explains(self, check: str, detail: str) -> bool:
        """Return whether the absence of the device explains a failed check."""
        return check in self.without_device and self.without_device[check] in detail


DEFAULTS = ProbeSettings()


def find_settings(backend: Backend) -> Path | None:
    """Return the file of a backend's own directory, or of one that it shares; nothing if no such directory has one."""
    plugins = backend.path.parent.parent
    paths = (plugins / name / _FILENAME for name in (backend.name, *backend.shared))
    return next((path for path in paths if path.is_file()), None)


def load_settings(backend: Backend) -> ProbeSettings:
    """Read the settings of a backend; those of a backend without such a file say nothing."""
    path = find_settings(backend)
    return parse_settings(path.read_text("utf-8"), path) if path else DEFAULTS


def parse_settings(text: str, path: Path) -> ProbeSettings:
    """Turn the text of such a file into settings.

    Raises:
        UsageError: It is not TOML, has unknown keys, or values that are not strings, or empty ones.
    """
    try:
        return tables.read_toml(ProbeSettings, text)
    except tables.TableError as error:
        raise UsageError(f"malformed settings of the conformance checks: {path}", cause=str(error)) from error
