# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Download a file by its address, which may be a `file:` one: pip takes no wheel variants and no documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import requests

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.listing import describe_failure, local_path, without_login

_SECONDS = 60
_CHUNK = 1 << 20
_LARGEST_DOCUMENT = 64 << 20


def download_file(url: str, target: Path, size: int, certificate: str = "") -> Path:
    """Write what is behind a URL to a file; the caller compares its hash.

    Where there are more bytes than expected, the download ends soon after them, so that no server fills the disk.

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
                    if file.tell() > size:
                        break
    except (FileNotFoundError, IsADirectoryError, requests.RequestException) as error:
        raise FetchError(f"cannot download {without_login(url)}", cause=describe_failure(error)) from error
    return target


def read_document(url: str, certificate: str = "") -> bytes:
    """Return what is behind a URL.

    Raises:
        FetchError: There is none, it cannot be asked for, or it is larger than any document.
    """
    data = b""
    try:
        if path := local_path(url):
            return path.read_bytes()
        with requests.get(url, timeout=_SECONDS, verify=certificate or True, stream=True) as answer:
            answer.raise_for_status()
            for chunk in answer.iter_content(_CHUNK):
                data += chunk
                if len(data) > _LARGEST_DOCUMENT:
                    cause = f"it has more than {_LARGEST_DOCUMENT >> 20} MiB, as no document of a release"
                    raise FetchError(f"cannot read {without_login(url)}", cause=cause)
    except (OSError, requests.RequestException) as error:
        raise FetchError(f"cannot read {without_login(url)}", cause=describe_failure(error)) from error
    return data
