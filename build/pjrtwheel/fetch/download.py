# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Download a file by its address, which may be a `file:` one: pip takes no wheel variants and no documents."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import requests

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.bundled import refuse_address
from pjrtwheel.fetch.listing import describe_failure, local_path, without_login

_SECONDS = 60
_CHUNK = 1 << 20


def download_file(url: str, target: Path, certificate: str = "") -> Path:
    """Write what is behind a URL to a file; the caller compares its hash.

    Raises:
        FetchError: There is nothing, or the connection broke.
    """
    refuse_address(url, os.environ)
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
        raise FetchError(f"cannot download {without_login(url)}", cause=describe_failure(error)) from error
    return target


def read_document(url: str, certificate: str = "") -> bytes:
    """Return what is behind a URL.

    Raises:
        FetchError: There is none, or it cannot be asked for.
    """
    refuse_address(url, os.environ)
    try:
        if path := local_path(url):
            return path.read_bytes()
        answer = requests.get(url, timeout=_SECONDS, verify=certificate or True)
        answer.raise_for_status()
    except (OSError, requests.RequestException) as error:
        raise FetchError(f"cannot read {without_login(url)}", cause=describe_failure(error)) from error
    return answer.content
