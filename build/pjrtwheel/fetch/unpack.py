# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Take files out of a wheel, trusting none of the names in it."""

import shutil
import stat
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from pjrtwheel.errors import FetchError
from pjrtwheel.wheel.members import open_wheel


def _select(names: Sequence[str], patterns: Sequence[str], optional: Sequence[str], wheel: str) -> list[str]:
    missing = [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]
    if missing:
        raise FetchError(
            f"{wheel} has no member {', '.join(map(repr, missing))}",
            cause="the wheel is laid out differently than the release or backend file says",
        )
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in (*patterns, *optional))]


def unpack_wheel(
    wheel: Path, directory: Path, patterns: Sequence[str], *, optional: Sequence[str] = ()
) -> tuple[str, ...]:
    """Unpack the members that match any pattern, and return their names in order.

    Each shell pattern must match something, but for the optional ones; `*` also matches `/`.

    Raises:
        FetchError: The wheel lacks what a pattern asks for.
        WheelError: It is damaged or hostile.
    """
    with open_wheel(wheel) as archive:
        files = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        chosen = _select(list(files), patterns, optional, wheel.name)
        for name in chosen:
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as reader, target.open("wb") as writer:
                shutil.copyfileobj(reader, writer, 1 << 20)
            target.chmod(0o755 if files[name].external_attr >> 16 & stat.S_IXUSR else 0o644)
    return tuple(sorted(chosen))
