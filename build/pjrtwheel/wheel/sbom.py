# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The bill of materials inside a wheel: CycloneDX 1.6 in JSON, placed by PEP 770.

It states what the library was made from and nothing that changes between two builds: no serial number, no time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pjrtwheel.wheel.names import WheelName

SBOM_FILENAME = "pjrtwheel.cdx.json"


def format_sbom(name: WheelName, provenance: Mapping[str, Any]) -> str:
    """Return the document.

    Args:
        name: The wheel it describes.
        provenance: Where the library came from, as the provider wrote it; values may be None.
    """
    # The file name tells our wheel from upstream's of the same name and version, from which it may be made.
    reference = f"pkg:pypi/{name.distribution}@{name.version}?file_name={name.filename}"
    root = {
        "type": "library",
        "bom-ref": reference,
        "name": name.distribution,
        "version": name.version,
        "purl": reference,
    }
    origin = _origin(provenance)
    xla = _xla(provenance)
    components = [component for component in (origin, xla) if component]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root},
        "components": components,
        "dependencies": [
            {"ref": reference, "dependsOn": sorted(component["bom-ref"] for component in components)},
            *({"ref": component["bom-ref"]} for component in components),
        ],
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _origin(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the file that the library was taken from."""
    project, version = provenance.get("project"), provenance.get("version")
    label = project or provenance.get("filename")
    if not label:
        return {}
    reference = f"pkg:pypi/{project}@{version}" if project and version else f"file:{label}"
    component: dict[str, Any] = {"type": "library", "bom-ref": reference, "name": label}
    if version:
        component["version"] = version
    if project and version:
        component["purl"] = reference
    if provenance.get("sha256"):
        component["hashes"] = [{"alg": "SHA-256", "content": provenance["sha256"]}]
    stated = {key: provenance.get(key) for key in ("filename", "member", "provider")}
    component["properties"] = [
        {"name": f"pjrtwheel:{key}", "value": str(value)} for key, value in stated.items() if value
    ]
    return component


def _xla(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the XLA revision, where it is known."""
    commit = provenance.get("xla_commit")
    if not commit:
        return {}
    reference = f"pkg:github/openxla/xla@{commit}"
    return {"type": "library", "bom-ref": reference, "name": "xla", "version": commit, "purl": reference}
