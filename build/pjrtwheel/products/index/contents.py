# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What people want to know of a wheel that `release.json` does not say: licences, components, unpacked size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.read.directory import open_wheel

_SBOM_SUFFIX = ".cdx.json"


@dataclass(frozen=True, slots=True)
class Component:
    """Something that a wheel was made from, as its bill of materials says.

    Attributes:
        name: Such as `jax-cuda13-pjrt`.
        version: Its version; empty where the document has none.
        filename: The file that it was taken from; empty if the document does not say.
        sha256: Digest of that file; empty without one.
    """

    name: str
    version: str = ""
    filename: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class WheelContents:
    """What a wheel holds.

    Attributes:
        installed_size: Bytes of all its members.
        license: The licence as METADATA has it (PEP 639); empty where it has none.
        license_files: Licence texts in the wheel.
        sboms: Bills of materials in the wheel (PEP 770).
        components: What these list.
    """

    installed_size: int
    license: str = ""
    license_files: tuple[str, ...] = ()
    sboms: tuple[str, ...] = ()
    components: tuple[Component, ...] = ()


def read_contents(wheel: Path) -> WheelContents:
    """Look into a wheel; a bill of materials that cannot be read is listed without components.

    Raises:
        WheelError: The wheel is damaged or hostile.
    """
    with open_wheel(wheel) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        paths = {folder: _list_in(folder, [info.filename for info in infos]) for folder in ("licenses", "sboms")}
        texts = [archive.read(name) for name in paths["sboms"] if name.endswith(_SBOM_SUFFIX)]
        metadata = next((info.filename for info in infos if _is_metadata(info.filename)), "")
        fields = archive.read(metadata).decode("utf-8", "replace") if metadata else ""
    return WheelContents(
        sum(info.file_size for info in infos),
        ", ".join(read_field(fields, "License-Expression") or read_field(fields, "License")),
        tuple(name.split("/", 2)[2] for name in paths["licenses"]),
        tuple(name.split("/", 2)[2] for name in paths["sboms"]),
        tuple(component for text in texts for component in _read_components(text)),
    )


def _is_metadata(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name == "METADATA" and len(path.parts) == 2 and path.parts[0].endswith(".dist-info")


def _list_in(folder: str, names: list[str]) -> list[str]:
    """Return the members in a folder of `.dist-info`."""
    parts = {name: PurePosixPath(name).parts for name in names}
    return sorted(n for n, p in parts.items() if len(p) > 2 and p[0].endswith(".dist-info") and p[1] == folder)


def _read_components(text: bytes) -> Iterator[Component]:
    """Read a CycloneDX document as far as people see it; anybody may have written it."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    listed = document.get("components") if isinstance(document, dict) else None
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield _component(entry)


def _component(entry: dict[str, Any]) -> Component:
    def pairs(key: str, name: str, value: str) -> dict[str, str]:
        listed = entry.get(key)
        tables = [table for table in listed if isinstance(table, dict)] if isinstance(listed, list) else []
        return {str(table.get(name)): str(table.get(value)) for table in tables}

    properties = pairs("properties", "name", "value")
    filename = next((text for name, text in properties.items() if name.endswith(":filename")), "")
    return Component(
        entry["name"], str(entry.get("version") or ""), filename, pairs("hashes", "alg", "content").get("SHA-256", "")
    )
