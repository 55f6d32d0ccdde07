# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say in words in what two wheels of one name differ: in members, in their order, or only in how they are packed."""

from __future__ import annotations

import difflib
import hashlib
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pjrtwheel.errors import WheelError, shorten
from pjrtwheel.files import hash_file
from pjrtwheel.wheel.compress import find_compression
from pjrtwheel.wheel.read.directory import open_wheel

_SHOWN = 10
_LINES = 12  # of a text that differs
_REPORT_LINES = 200
_CHUNK = 1 << 20
_SECONDS = 600


def explain_difference(published: Path, rebuilt: Path) -> tuple[str, ...]:
    """Return in what two wheels differ; nothing for the same bytes.

    diffoscope is asked as well, where it is installed.
    """
    if hash_file(published) == hash_file(rebuilt):
        return ()
    try:
        with open_wheel(published) as first, open_wheel(rebuilt) as second:
            lines = list(_compare(first, second))
    except WheelError as error:
        return (error.what,)
    if not lines:  # the members are equal in all that the directory says
        lines.append(f"compressed at level {find_compression(published)}, now at {find_compression(rebuilt)}")
    return (*lines, *_ask_diffoscope(published, rebuilt))


def _compare(first: zipfile.ZipFile, second: zipfile.ZipFile) -> Iterator[str]:
    """Compare members by what they hold, then by where they are, then by what the directory says of them."""
    old, new = ({info.filename: info for info in archive.infolist()} for archive in (first, second))
    if gone := sorted(old.keys() - new.keys()):
        yield f"members that are only in what was published: {shorten(gone, _SHOWN)}"
    if added := sorted(new.keys() - old.keys()):
        yield f"members that are only in what was built again: {shorten(added, _SHOWN)}"
    common = [name for name in old if name in new]
    changed = [name for name in common if _digest(first, old[name]) != _digest(second, new[name])]
    if changed:
        metadata = all(".dist-info/" in name for name in changed)
        yield f"{'only metadata differs' if metadata else 'members with other bytes'}: {shorten(changed, _SHOWN)}"
        for name in changed:
            if name.endswith((".dist-info/METADATA", ".dist-info/WHEEL")):
                yield from _compare_text(name, first.read(name), second.read(name))
    elif not gone and not added and list(old) != list(new):
        yield "the same members, in another order"
    for what, attribute in (
        ("dates", "date_time"),
        ("permissions", "external_attr"),
        ("methods of compression", "compress_type"),
    ):
        if others := [name for name in common if getattr(old[name], attribute) != getattr(new[name], attribute)]:
            yield f"other {what}: {shorten(others, _SHOWN)}"
    packed = [name for name in common if name not in changed and old[name].compress_size != new[name].compress_size]
    if packed:
        levels = [find_compression(Path(archive.filename)) for archive in (first, second) if archive.filename]
        yield f"the same bytes, compressed to other lengths (levels {levels}): {shorten(packed, _SHOWN)}"


def _compare_text(name: str, old: bytes, new: bytes) -> Iterator[str]:
    before, after = (data.decode(errors="replace").splitlines() for data in (old, new))
    lines = difflib.unified_diff(before, after, f"published {name}", f"rebuilt {name}", n=0, lineterm="")
    yield from (f"  {line}" for line, _ in zip(lines, range(_LINES), strict=False))


def _digest(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> str:
    digest = hashlib.sha256()
    with archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _ask_diffoscope(published: Path, rebuilt: Path) -> Iterator[str]:
    program = shutil.which("diffoscope")
    if not program:
        return
    command = [program, "--text", "-", "--text-color", "never", str(published), str(rebuilt)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        yield f"diffoscope did not end within {_SECONDS} s"
        return
    lines = done.stdout.splitlines()
    yield "diffoscope:"
    yield from (f"  {line}" for line in lines[:_REPORT_LINES])
    if len(lines) > _REPORT_LINES:
        yield f"  and {len(lines) - _REPORT_LINES} more lines"
