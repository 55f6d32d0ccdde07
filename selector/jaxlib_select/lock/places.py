# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Where a file of a lock lies on this machine."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit


def local_file(url: str, to_path: Callable[[str], str] = urllib.request.url2pathname) -> Path | None:
    """Return the file that a URL names; nothing for one on the network.

    Args:
        url: A URL, or an empty text.
        to_path: Turns the part after the scheme into a path as this system spells it (RFC 8089).
    """
    parts = urlsplit(url)
    if parts.scheme != "file":
        return None
    server = f"//{parts.netloc}" if parts.netloc not in {"", "localhost"} else ""
    return Path(to_path(server + parts.path))
