# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The bill of materials inside a wheel: CycloneDX 1.6 in JSON, placed by PEP 770.

It states what the library was made from and nothing that changes between two builds: its serial number follows from
the wheel's name and origin, and it bears no time.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cyclonedx.exception import CycloneDxException
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from pjrtwheel.errors import WheelError, explain
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.wheel.names import WheelName

SBOM_FILENAME = "pjrtwheel.cdx.json"


def format_sbom(name: WheelName, provenance: Mapping[str, Any], *, bundled: bool = True) -> str:
    """Return the document for a wheel.

    The provenance says where library or kernels came from, as the provider wrote it; values may be None. A library that
    is not `bundled` is required from elsewhere.
    """
    # The file name distinguishes our wheel from upstream's of the same name and version, from which it may be made.
    purl = PackageURL("pypi", None, name.distribution, name.version, {"file_name": name.filename})
    root = describe_part(name.distribution, name.version, purl)
    components = [*_origin(provenance, bundled=bundled), *_commits(provenance)]
    bom = start_bom(root, [purl.to_string(), *(str(component.bom_ref) for component in components)])
    bom.components.update(components)
    bom.register_dependency(root, components)
    return format_bom(bom)


def start_bom(root: Component, identity: Iterable[str]) -> Bom:
    """Return a document about a component, whose serial number follows from what it is about."""
    metadata = BomMetaData(component=root)
    # The library would put the time of the build here; the schema wants none, only its type hint does.
    metadata.timestamp = None  # type: ignore[assignment]
    return Bom(metadata=metadata, serial_number=uuid.uuid5(uuid.NAMESPACE_URL, " ".join(identity)))


def format_bom(bom: Bom) -> str:
    """Return the text of a document."""
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def parse_bom(data: bytes, what: str) -> Bom:
    """Read a document; `what` names it in messages.

    Raises:
        WheelError: It is damaged.
    """
    try:
        # What the library declares by a decorator, type checkers do not see.
        bom: Bom = Bom.from_json(read_json(dict[str, Any], data))  # type: ignore[attr-defined]
    except (TableError, ValueError, TypeError, KeyError, CycloneDxException) as error:
        raise WheelError(f"{what} is damaged", cause=explain(error)) from error
    return bom


def describe_part(
    name: str, version: str | None, purl: PackageURL | None, *, sha256: str | None = None, **others: Any
) -> Component:
    """Return a library or a wheel, with its digest if that is known."""
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version or None,
        purl=purl,
        bom_ref=purl.to_string() if purl else f"file:{name}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else [],
        **others,
    )


def _origin(provenance: Mapping[str, Any], *, bundled: bool) -> Iterator[Component]:
    project, version = provenance.get("project"), provenance.get("version")
    label = project or provenance.get("filename")
    if not label:
        return
    stated = {key: provenance.get(key) for key in ("filename", "member", "provider")}
    stated |= {"bundled": "" if bundled else "false"}
    yield describe_part(
        label,
        version,
        PackageURL("pypi", None, project, version) if project and version else None,
        sha256=provenance.get("sha256"),
        properties=_properties(stated),
    )


def _commits(provenance: Mapping[str, Any]) -> Iterator[Component]:
    for owner, name in (("openxla", "xla"), ("jax-ml", "jax")):
        if commit := provenance.get(f"{name}_commit"):
            yield describe_part(name, commit, PackageURL("github", owner, name, commit))


def _properties(stated: Mapping[str, Any]) -> list[Property]:
    """Return what is stated in addition to the fields of the format, without empty values."""
    return [Property(name=f"pjrtwheel:{key}", value=str(value)) for key, value in stated.items() if value]
