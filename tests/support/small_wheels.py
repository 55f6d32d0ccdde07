# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Factories of small wheels."""

import base64
import hashlib
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pjrtwheel.wheel.names import parse_name


def describe_wheel(name: str, requires: Sequence[str] = (), *, python: str = "") -> dict[str, bytes]:
    """Return METADATA and WHEEL as they follow from a wheel's file name and what it requires.

    Args:
        name: File name of the wheel.
        requires: Its requirements, with their markers; extras are those that the markers name.
        python: Its Requires-Python, if any.
    """
    project, version, *_ = name.split("-")
    tag = parse_name(name).tag
    extras = sorted({need.partition("extra == ")[2].strip("'\"") for need in requires} - {""})
    fields = [("Metadata-Version", "2.4"), ("Name", project.replace("_", "-")), ("Version", version)]
    fields += [("Requires-Python", python)] if python else []
    fields += [*(("Provides-Extra", extra) for extra in extras), *(("Requires-Dist", need) for need in requires)]
    metadata = "".join(f"{key}: {value}\n" for key, value in fields)
    pure = str(tag.endswith("-any")).lower()
    wheel = f"Wheel-Version: 1.0\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    info = f"{project}-{version}.dist-info"
    return {f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": wheel.encode()}


def true_record(members: Mapping[str, bytes], path: str) -> str:
    """Return the text of RECORD, which is at `path`, for members of a wheel."""
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in members.items()
    ]
    return "".join([*rows, f"{path},,\n"])


def build_wheel(directory: Path, files: Mapping[str, bytes], *, name: str, record: str | None = None) -> Path:
    """Write a wheel from its members, with WHEEL, METADATA and RECORD in addition to those given.

    Args:
        directory: Where it is written.
        files: Path → bytes.
        name: File name of the wheel.
        record: The text of RECORD; made from the members when absent.
    """
    stem = "-".join(name.split("-")[:2])
    members = dict(files)
    project, version = stem.split("-")
    text = f"Metadata-Version: 2.4\nName: {project}\nVersion: {version}\nRequires-Dist: numpy>=2.0\n\nText\n"
    members.setdefault(f"{stem}.dist-info/METADATA", text.encode())
    members.setdefault(f"{stem}.dist-info/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
    if record is None:
        record = true_record(members, f"{stem}.dist-info/RECORD")
    members[f"{stem}.dist-info/RECORD"] = record.encode()
    path = directory / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member), data, zipfile.ZIP_DEFLATED)  # the same bytes on every day
    return path


def rewrite_wheel(wheel: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    """Write a wheel anew, with other members; the one for which nothing is returned is left out."""
    with zipfile.ZipFile(wheel) as archive:
        members = {name: change(name, archive.read(name)) for name in archive.namelist()}
    wheel.unlink()
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in members.items():
            if data is not None:
                archive.writestr(name, data)


def damage_stream(wheel: Path, member: str) -> Path:
    """Give the compressed bytes of a member a first block of a kind that deflate does not have."""
    with zipfile.ZipFile(wheel) as archive:
        start = archive.getinfo(member).header_offset
    data = bytearray(wheel.read_bytes())
    name, extra = struct.unpack_from("<HH", data, start + 26)
    data[start + 30 + name + extra] = 0xFF
    wheel.write_bytes(data)
    return wheel
