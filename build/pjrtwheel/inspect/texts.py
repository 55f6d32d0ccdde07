# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read what a wheel says about itself: its directory, METADATA, WHEEL, entry points and lock."""

from __future__ import annotations

import configparser
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pjrtwheel.errors import WheelError
from pjrtwheel.inspect.facts import FileFacts, Inspection, LibraryFacts, PluginFacts
from pjrtwheel.verify import documents, locks
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.wheel.read.directory import DAMAGE, check_directory

_NAMED = 3


def check_wheel(wheel: Path) -> None:
    """Refuse a wheel that must not be unpacked.

    Raises:
        WheelError: It is no zip file, or its directory is hostile.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            problems = check_directory(archive.infolist(), wheel.stat().st_size)
    except DAMAGE as error:
        raise WheelError(
            f"{wheel.name} is no wheel, or a damaged one: {error}",
            cause="the download or copy was cut short, or the file is something else",
        ) from error
    if problems:
        more = f"; and {len(problems) - _NAMED} more" if len(problems) > _NAMED else ""
        raise WheelError(
            f"{wheel.name} is not unpacked: {'; '.join(problems[:_NAMED])}{more}",
            cause="it was damaged or tampered with",
            remedy="fetch it again from a source you trust",
        )


def gather_facts(
    contents: WheelContents, sha256: str, libraries: Sequence[LibraryFacts], plugins: Mapping[str, PluginFacts]
) -> Inspection:
    """Put together the facts about a wheel; only the findings are missing.

    Args:
        contents: The wheel, read.
        sha256: Its digest.
        libraries: Its libraries.
        plugins: Its plugins, as far as they were opened.
    """
    headers, wheel = contents.headers("METADATA"), contents.headers("WHEEL")
    sizes = _compressed_sizes(contents.path)
    files = [FileFacts(name, member.size, sizes[name]) for name, member in contents.members.items()]
    return Inspection(
        wheel=contents.path.name,
        size=contents.path.stat().st_size,
        sha256=sha256,
        installed_size=sum(file.size for file in files),
        name=headers.get("Name", ""),
        version=headers.get("Version", ""),
        summary=headers.get("Summary", ""),
        tags=tuple(sorted(map(str, contents.name.tags))),
        build="".join(map(str, contents.name.build)),
        purelib={"true": True, "false": False}.get(wheel.get("Root-Is-Purelib", "").strip().lower()),
        requires_python=headers.get("Requires-Python", ""),
        requires=tuple(headers.get_all("Requires-Dist", [])),
        extras=tuple(headers.get_all("Provides-Extra", [])),
        entry_points=_entry_points(contents),
        license=headers.get("License-Expression", headers.get("License", "")),
        license_files=_license_files(contents),
        sboms=tuple(name for name in contents.members if name.startswith(f"{contents.dist_info}/sboms/")),
        lock=_lock(contents),
        files=tuple(sorted(files, key=lambda file: (-file.size, file.path))),
        libraries=tuple(libraries),
        plugins=dict(plugins),
    )


def _compressed_sizes(wheel: Path) -> dict[str, int]:
    """Return how much of the wheel each member takes."""
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.compress_size for info in archive.infolist()}


def _license_files(contents: WheelContents) -> tuple[str, ...]:
    """Return the licence files, in the place of PEP 639 or directly in the metadata as before it."""
    named = contents.headers("METADATA").get_all("License-File", [])
    places = [f"{contents.dist_info}/{folder}{name}" for name in named for folder in ("licenses/", "")]
    return tuple(dict.fromkeys(place for place in places if place in contents.members))


def _entry_points(contents: WheelContents) -> tuple[str, ...]:
    """Return each entry point as `group: name = target`; none when the file cannot be read."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    try:
        parser.read_string(contents.texts.get(f"{contents.dist_info}/entry_points.txt", ""))
    except configparser.Error:
        return ()
    return tuple(f"{group}: {name} = {target}" for group in parser.sections() for name, target in parser[group].items())


def _lock(contents: WheelContents) -> dict[str, Any] | None:
    """Return the release lock; nothing when there is none, or when it is no JSON object."""
    found = locks.find_lock(contents.texts)
    try:
        return documents.parse_object(found[1]) if found else None
    except ValueError:
        return None
