# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The findings about a wheel as a whole: values in, remarks out. Their codes are listed in inspect/codes.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pjrtwheel.inspect.facts import Inspection, Remark
from pjrtwheel.verify import documents, metadata
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.tools import parse_platform_tag

_NAMED = 5
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)""")


def find_remarks(inspection: Inspection, contents: WheelContents) -> Iterator[Remark]:
    """Yield every finding about the wheel as a whole."""
    yield from _archive(contents)
    yield from _platform(inspection)
    yield from _licenses(contents)
    yield from _requirements(inspection)
    yield from _ties(inspection)


def _archive(contents: WheelContents) -> Iterator[Remark]:
    """What verification says about names, RECORD and METADATA."""
    for code, check in (
        ("member-name", metadata.check_names),
        ("record", metadata.check_record),
        ("metadata", metadata.check_metadata),
    ):
        yield from (Remark(code, member, text) for member, text in check(contents))


def _platform(inspection: Inspection) -> Iterator[Remark]:
    """A wheel with libraries is no pure one, and its platform tag promises a libc that is new enough."""
    if not inspection.libraries:
        return
    if inspection.purelib is not False:
        yield Remark("purelib", "", "does not say Root-Is-Purelib: false, though it holds libraries")
    needed = inspection.floors().get("GLIBC", "")
    for platform in sorted({tag.rsplit("-", 1)[1] for tag in inspection.tags}):
        floor = parse_platform_tag(platform)
        if floor is None:
            yield Remark("platform-floor", "", f"claims platform {platform!r}, which promises no libc version")
        elif needed and floor[0] == "manylinux" and tuple(map(int, needed.split("."))) > floor[1]:
            yield Remark("glibc", "", f"claims platform {platform!r}, and needs GLIBC_{needed}")


def _licenses(contents: WheelContents) -> Iterator[Remark]:
    """Licence files and a licence expression (PEP 639), and a bill of materials (PEP 770)."""
    yield from (Remark("license-file", "", text) for _, text in metadata.check_licenses(contents))
    headers = contents.headers("METADATA")
    if headers.get("License") is not None and headers.get("License-Expression") is None:
        yield Remark("license-field", "", "states its licence in the deprecated field License (PEP 639)")
    classifiers = [line for line in headers.get_all("Classifier", []) if line.startswith("License ::")]
    if classifiers:
        yield Remark("license-field", "", f"states its licence in a classifier: {classifiers[0]!r} (PEP 639)")
    yield from (Remark("sbom", "", text) for _, text in documents.check_sbom(contents))


def _requirements(inspection: Inspection) -> Iterator[Remark]:
    """Every requirement can be read, comes from an index, and belongs to an extra that there is."""
    extras = {canonicalize_name(extra) for extra in inspection.extras}
    open_names = []
    for line in inspection.requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement as error:
            yield Remark(
                "requires", "", f"requires {line!r}, which no installer can read: {str(error).splitlines()[0]}"
            )
            continue
        if requirement.url:
            yield Remark("requires", "", f"requires {line!r}, which a package index cannot resolve")
        elif not requirement.specifier:
            open_names.append(requirement.name)
        missing = _extras(requirement) - extras
        if missing:
            yield Remark("requires", "", f"requires {line!r} for an extra that it does not provide")
    if open_names:
        more = f" and {len(open_names) - _NAMED} more" if len(open_names) > _NAMED else ""
        names = ", ".join(open_names[:_NAMED])
        yield Remark("requires-any-version", "", f"accepts every version of {names}{more}")


def _extras(requirement: Requirement) -> set[str]:
    """Return the extras that a requirement's marker names."""
    return {str(canonicalize_name(name)) for name in _EXTRA.findall(str(requirement.marker or ""))}


def _ties(inspection: Inspection) -> Iterator[Remark]:
    """A plugin belongs to exactly one jaxlib."""
    if inspection.libraries and inspection.lock is None:
        yield Remark("lock", "", "holds no release lock, so it cannot tell a jaxlib of other inputs from its own")
    pinned = any(line.replace(" ", "").startswith("jaxlib==") for line in inspection.requires)
    if any(library.is_plugin for library in inspection.libraries) and not pinned:
        yield Remark("jaxlib-version", "", "requires no exact jaxlib, so installers combine it with any")
