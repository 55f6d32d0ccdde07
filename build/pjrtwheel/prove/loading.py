# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open the plugin library of a finished wheel: the evidence for level `load`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.prove import library
from pjrtwheel.prove.environment import clean_environ

_SECONDS = 120


def read_api(wheel: Path, backend: Backend | None) -> str | None:
    """Return the PJRT API version that the library of a wheel gives when it is opened in a process of its own.

    Returns:
        Nothing if the wheel has no library, or if it does not open on this machine.
    """
    member = f"{backend.package}/{backend.library}" if backend else ""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory(prefix="load-") as scratch:
        if member not in archive.namelist():
            return None
        path = archive.extract(member, scratch)
        result = subprocess.run(
            [sys.executable, "-I", library.__file__, path],
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            env=clean_environ(),
        )
    return ".".join(map(str, json.loads(result.stdout))) if result.returncode == 0 else None
