# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from jaxlib_select.errors import LockError


def write_text(path: Path, text: str) -> None:
    """Write a file beside its place, flush it, and move it there.

    Raises:
        LockError: It cannot be written; what was there before is as it was.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink()
            raise
    except OSError as error:
        raise LockError(f"cannot write {path}", cause=error.strerror or str(error)) from error
