# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The findings about a wheel as a whole: values in, findings out. Their codes are listed in verify/codes.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pjrtwheel.inspect.facts import Inspection
from pjrtwheel.verify import documents, metadata
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.finding import Finding, name_problems
from pjrtwheel.verify.tools import parse_platform_tag

_NAMED = 5
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)""")


def find_wheel_findings(inspection: Inspection, contents: WheelContents) -> Iterator[Finding]:
    """Yield every finding about the wheel as a whole."""
    yield from _archive(contents)
    yield from _platform(inspection)
    yield from _licenses(contents)
    yield from _requirements(inspection)
    yield from _ties(inspection)


def _archive(contents: WheelContents) -> Iterator[Finding]:
    """What verification says about names, RECORD and METADATA."""
    for code, check in (
        ("member-name", metadata.check_names),
        ("record", metadata.check_record),
        ("metadata", metadata.check_metadata),
    ):
        yield from name_problems(code, check(contents))


def _platform(inspection: Inspection) -> Iterator[Finding]:
    """A wheel with libraries is no pure one, and its platform tag promises a libc that is new enough."""
    if not inspection.libraries:
        return
    if inspection.purelib is not False:
        yield Finding("purelib", "", "does not say Root-Is-Purelib: false, though it holds libraries")
    needed = inspection.floors().get("GLIBC", "")
    for platform in sorted({tag.rsplit("-", 1)[1] for tag in inspection.tags}):
        floor = parse_platform_tag(platform)
        if floor is None:
            yield Finding("platform-floor", "", f"claims platform {platform!r}, which promises no libc version")
        elif needed and floor[0] == "manylinux" and tuple(map(int, needed.split("."))) > floor[1]:
            yield Finding("glibc", "", f"claims platform {platform!r}, and needs GLIBC_{needed}")


def _licenses(contents: WheelContents) -> Iterator[Finding]:
    """Licence files and a licence expression (PEP 639), and a bill of materials (PEP 770)."""
    yield from (Finding("license-file", "", text) for _, text in metadata.check_licenses(contents))
    headers = contents.headers("METADATA")
    if headers.get("License") is not None and headers.get("License-Expression") is None:
        yield Finding("license-field", "", "states its licence in the deprecated field License (PEP 639)")
    classifiers = [line for line in headers.get_all("Classifier", []) if line.startswith("License ::")]
    if classifiers:
        yield Finding("license-field", "", f"states its licence in a classifier: {classifiers[0]!r} (PEP 639)")
    yield from (Finding("sbom", "", text) for _, text in documents.check_sbom(contents))


def _requirements(inspection: Inspection) -> Iterator[Finding]:
    """Every requirement can be read, comes from an index, and belongs to an extra that there is."""
    extras = {canonicalize_name(extra) for extra in inspection.extras}
    open_names = []
    for line in inspection.requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement as error:
            yield Finding(
                "requires", "", f"requires {line!r}, which no installer can read: {str(error).splitlines()[0]}"
            )
            continue
        if requirement.url:
            yield Finding("requires", "", f"requires {line!r}, which a package index cannot resolve")
        elif not requirement.specifier:
            open_names.append(requirement.name)
        missing = _extras(requirement) - extras
        if missing:
            yield Finding("requires", "", f"requires {line!r} for an extra that it does not provide")
    if open_names:
        more = f" and {len(open_names) - _NAMED} more" if len(open_names) > _NAMED else ""
        names = ", ".join(open_names[:_NAMED])
        yield Finding("requires-any-version", "", f"accepts every version of {names}{more}")


def _extras(requirement: Requirement) -> set[str]:
    """Return the extras that a requirement's marker names."""
    return {str(canonicalize_name(name)) for name in _EXTRA.findall(str(requirement.marker or ""))}


def _ties(inspection: Inspection) -> Iterator[Finding]:
    """A plugin belongs to exactly one jaxlib."""
    if inspection.libraries and inspection.lock is None:
        yield Finding("lock", "", "holds no release lock, so it cannot tell a jaxlib of other inputs from its own")
    pinned = any(line.replace(" ", "").startswith("jaxlib==") for line in inspection.requires)
    if any(library.is_plugin for library in inspection.libraries) and not pinned:
        yield Finding("jaxlib-version", "", "requires no exact jaxlib, so installers combine it with any")
