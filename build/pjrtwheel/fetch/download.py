# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Download a file by its address, of whatever name: pip takes no wheel variants and no documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import requests

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.listing import local_path

_SECONDS = 60
_CHUNK = 1 << 20


def download_file(url: str, target: Path, certificate: str = "") -> Path:
    """Write what is behind a URL, which may be a `file:` one, to a file; the caller compares its hash.

    Raises:
        FetchError: There is nothing, or the connection broke.
    """
    try:
        if path := local_path(url):
            shutil.copyfile(path, target)
            return target
        with requests.get(url, timeout=_SECONDS, verify=certificate or True, stream=True) as answer:
            answer.raise_for_status()
            with target.open("wb") as file:
                for chunk in answer.iter_content(_CHUNK):
                    file.write(chunk)
    except (FileNotFoundError, IsADirectoryError, requests.RequestException) as error:
        raise FetchError(f"cannot download {url}", cause=f"{type(error).__name__}: {error}"[:300]) from error
    return target
