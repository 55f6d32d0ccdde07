# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the JSON documents in a wheel: its bill of materials, and the list of chips it holds code for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cyclonedx.exception import MissingOptionalDependencyException
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from pjrtwheel.errors import VerifyError
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.finding import Problem


@dataclass(frozen=True, slots=True)
class CodeList:
    """The document that lists the chips a wheel holds code for.

    Attributes:
        code: Their names.
        files: Library → the names it contributes, of all kinds of code.
    """

    code: list[str]
    files: Mapping[str, set[str]]


def parse_object(text: str) -> dict[str, Any]:
    """Read a JSON document that is an object; it comes from a wheel, so it may be anything.

    Raises:
        ValueError: It is not JSON, no object, or nested deeper than Python can read.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ValueError(f"is no JSON object: {text.strip()[:40]!r}")  # noqa: TRY004  # a value of a wheel, not a bug
    return document


def parse_code_list(text: str) -> CodeList:
    """Read `gpu_code.json`.

    Raises:
        ValueError: It is of another shape.

    >>> parse_code_list('{"code": ["sm_90"], "files": {"a.so": {"sass": ["sm_90"], "ptx": []}}}').files
    {'a.so': {'sm_90'}}
    """
    match parse_object(text):
        case {"code": list(code), "files": dict(files)} if _are_texts(code) and all(map(_is_kinds, files.values())):
            return CodeList(code, {name: set().union(*kinds.values()) for name, kinds in files.items()})
    raise ValueError('is no list of chips, expected {"code": [NAME, ...], "files": {LIBRARY: {KIND: [NAME, ...]}}}')


def _is_kinds(value: object) -> bool:
    """Tell whether a value maps kinds of code to names of chips."""
    return isinstance(value, dict) and all(map(_are_texts, value.values()))


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def check_sbom(wheel: WheelContents) -> Iterator[Problem]:
    """There is a CycloneDX document below `.dist-info/sboms/` (PEP 770)."""
    names = [name for name in wheel.members if name.startswith(f"{wheel.dist_info}/sboms/")]
    if not names:
        yield f"{wheel.dist_info}/sboms", "holds no software bill of materials"
    for name in names:
        try:
            document = parse_object(wheel.texts.get(name, ""))
        except ValueError as error:
            yield name, str(error)
            continue
        if document.get("bomFormat") != "CycloneDX":
            yield name, f"has bomFormat {document.get('bomFormat')!r}, expected 'CycloneDX'"
        else:
            yield from ((name, problem) for problem in _check_schema(wheel.texts[name], document.get("specVersion")))


def _check_schema(text: str, version: object) -> Iterator[str]:
    """A CycloneDX document holds to the schema of the version it names, and to nothing beyond."""
    known = {schema.to_version(): schema for schema in SchemaVersion}
    if not isinstance(version, str) or version not in known:
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
    try:
        listed = parse_code_list(wheel.texts[member])
    except ValueError as error:
        yield member, str(error)
        return
    parts = set().union(*listed.files.values())
    if set(listed.code) != parts:
        yield member, f"sums up {listed.code}, its parts are {sorted(parts)}"
    if reported is not None and listed.code != list(reported):
        yield member, f"says {listed.code}, the report says {list(reported)}"
    yield from (
        (member, f"names {name!r}, which is no library here") for name in listed.files if name not in wheel.libraries
    )
