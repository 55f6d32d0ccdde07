# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An index that speaks the upload API: twine sends, the simple repository API (PEP 503, PEP 691) says what is there."""

from __future__ import annotations

from collections.abc import Mapping

from pjrtwheel.errors import UsageError
from pjrtwheel.publish.destinations import Destination
from pjrtwheel.publish.place import Place, PlaceKind, Setting


def open_index(destination: Destination, settings: Mapping[str, str], tag: str) -> Place:
    """Return the place."""
    raise UsageError(f"{destination.name} cannot be published to yet: {tag} {settings}")


UPLOAD_API = PlaceKind(
    settings=(
        Setting("upload-url", "address that files are sent to, for an index with the upload API"),
        Setting("index-url", "address of its simple repository API, such as https://example.org/simple/", reading=True),
        Setting("repository", "section of .pypirc with its address and credentials"),
    ),
    open=open_index,
)
