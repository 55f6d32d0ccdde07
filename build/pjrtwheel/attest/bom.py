# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of a release: its wheels, and what each was made from, as their own documents say (PEP 770).

It holds nothing that changes between two runs.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from pjrtwheel.attest.release_set import ReleaseSet
from pjrtwheel.errors import WheelError, explain
from pjrtwheel.record.entries import Entry
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.sbom import SBOM_FILENAME

BOM_FILENAME = "sbom.cdx.json"


def make_bom(found: ReleaseSet, dist: Path) -> bytes:
    """Return the document for the wheels of a release.

    Raises:
        WheelError: A wheel, or the document in it, is damaged.
    """
    root = Component(
        type=ComponentType.FRAMEWORK, name=found.tag, version=found.version, bom_ref=f"release:{found.tag}"
    )
    metadata = BomMetaData(component=root)
    metadata.timestamp = None  # type: ignore[assignment]  # the time of the run; the schema wants none
    identity = " ".join([found.tag, *(entry.sha256 for entry in found.entries)])
    bom = Bom(metadata=metadata, serial_number=uuid.uuid5(uuid.NAMESPACE_URL, identity))
    known: dict[str, Component] = {}
    wheels = []
    for entry in found.entries:
        wheel = _wheel_component(entry)
        parts = [known.setdefault(str(part.bom_ref), part) for part in _read_parts(dist / entry.filename)]
        wheels.append(wheel)
        bom.register_dependency(wheel, parts)
    bom.register_dependency(root, wheels)
    bom.components.update([*wheels, *known.values()])
    return f"{JsonV1Dot6(bom).output_as_string(indent=2)}\n".encode()


def _wheel_component(entry: Entry) -> Component:
    purl = PackageURL("pypi", None, entry.distribution, entry.version, {"file_name": entry.filename})
    return Component(
        type=ComponentType.LIBRARY,
        name=entry.distribution,
        version=entry.version,
        purl=purl,
        bom_ref=purl.to_string(),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=entry.sha256)],
    )


def _read_parts(wheel: Path) -> list[Component]:
    """Return what a wheel was made from; nothing for one without a document.

    Wheels of different Pythons are made from different files of one project, so the digest becomes part of a reference.
    """
    member = f"{parse_name(wheel.name).dist_info}/sboms/{SBOM_FILENAME}"
    try:
        with open_wheel(wheel) as archive:
            document = json.loads(archive.read(member)) if member in archive.namelist() else {}
        # What the library declares by a decorator, type checkers do not see.
        bom: Bom = Bom.from_json(document)  # type: ignore[attr-defined]
    except (ValueError, TypeError, KeyError) as error:
        raise WheelError(f"{wheel.name} holds a damaged {SBOM_FILENAME}", cause=explain(error)) from error
    for component in bom.components:
        content = repr((component.hashes, component.properties, component.version, component.purl))
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        component.bom_ref.value = f"{component.bom_ref.value}#{digest}"
    return list(bom.components)
