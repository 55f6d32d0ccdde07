# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the JSON documents in a wheel: its bill of materials, and the list of chips it holds code for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

from cyclonedx.exception import MissingOptionalDependencyException
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from pjrtwheel.errors import VerifyError
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.metadata import Problem


def check_sbom(wheel: WheelContents) -> Iterator[Problem]:
    """There is a CycloneDX document below `.dist-info/sboms/` (PEP 770)."""
    names = [name for name in wheel.members if name.startswith(f"{wheel.dist_info}/sboms/")]
    if not names:
        yield f"{wheel.dist_info}/sboms", "holds no software bill of materials"
    for name in names:
        try:
            document = json.loads(wheel.texts[name])
        except (KeyError, ValueError) as error:
            yield name, f"is not JSON: {error}"
            continue
        if document.get("bomFormat") != "CycloneDX":
            yield name, f"has bomFormat {document.get('bomFormat')!r}, expected 'CycloneDX'"
        else:
            yield from ((name, problem) for problem in _check_schema(wheel.texts[name], document.get("specVersion")))


def _check_schema(text: str, version: str | None) -> Iterator[str]:
    """A CycloneDX document holds to the schema of the version it names, and to nothing beyond."""
    known = {schema.to_version(): schema for schema in SchemaVersion}
    if version not in known:
        yield f"has specVersion {version!r}, expected one of {', '.join(sorted(known))}"
        return
    try:
        error = JsonStrictValidator(known[version]).validate_str(text)
    except MissingOptionalDependencyException as missing:
        raise VerifyError(
            f"the validator of CycloneDX is not complete in {sys.executable}: {missing}",
            remedy="run through ./noxw, which prepares the environment",
        ) from missing
    if error is not None:
        yield f"is no valid CycloneDX {version} document: {str(error).splitlines()[0]}"


def check_gpu_code(wheel: WheelContents, reported: Iterable[str] | None) -> Iterator[Problem]:
    """The list of chips is the sum of its parts, names libraries of this wheel, and is what assembly reported."""
    member = next((name for name in wheel.texts if name.endswith("/gpu_code.json") and name.count("/") == 1), None)
    if member is None:
        if reported:
            yield "", f"holds no gpu_code.json, the report names {', '.join(reported)}"
        return
    document = json.loads(wheel.texts[member])
    parts = {name for kinds in document["files"].values() for names in kinds.values() for name in names}
    if set(document["code"]) != parts:
        yield member, f"sums up {document['code']}, its parts are {sorted(parts)}"
    if reported is not None and document["code"] != list(reported):
        yield member, f"says {document['code']}, the report says {list(reported)}"
    yield from (
        (member, f"names {name!r}, which is no library here")
        for name in document["files"]
        if name not in wheel.libraries
    )
