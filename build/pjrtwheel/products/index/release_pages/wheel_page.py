# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the page of one wheel says, put in order for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pjrtwheel.products.index.release_pages.releases import Wheel

_EXTRA = re.compile(r"""\s*(?:and\s+)?\(?extra\s*==\s*["']([^"']+)["']\)?""")


@dataclass(frozen=True, slots=True)
class Change:
    """What repair changed in files that differ only in the Python that they are for."""

    name: str
    members: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OriginFile:
    """A file that a wheel was made from: what it gave, its name and its digest."""

    what: str
    name: str
    sha256: str


def group_requirements(requires: Iterable[str]) -> dict[str, list[str]]:
    """Return the requirements by the extra that asks for them; the empty one holds always.

    >>> group_requirements(['a>=1', 'b==2; sys_platform == "linux" and extra == "x"'])
    {'': ['a>=1'], 'x': ['b==2; sys_platform == "linux"']}
    """
    groups: dict[str, list[str]] = {}
    for text in requires:
        requirement, _, marker = text.partition(";")
        found = _EXTRA.search(marker)
        rest = _EXTRA.sub("", marker).strip() if found else marker.strip()
        rest = rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest
        name = found[1] if found else ""
        groups.setdefault(name, []).append(f"{requirement.strip()}; {rest}" if rest else requirement.strip())
    return dict(sorted(groups.items()))


def group_changes(changes: Mapping[str, tuple[str, ...]]) -> list[Change]:
    """Return what repair changed, with the modules of several Pythons in one entry."""
    found: dict[str, list[str]] = {}
    for member in sorted(changes):
        path = PurePosixPath(member)
        found.setdefault(f"{path.parent}/{path.name.partition('.')[0]}", []).append(member)
    return [
        Change(name if len(members) > 1 else members[0], tuple(members), changes[members[0]])
        for name, members in found.items()
    ]


def list_origins(wheel: Wheel) -> Iterator[OriginFile]:
    """Yield the files that a wheel's library and kernels were taken from."""
    origin = wheel.entry.provenance
    if origin.get("filename"):
        yield _origin_file(str(origin.get("member") or "the wheel"), origin)
    kernels = origin.get("kernels")
    for kernel in kernels if isinstance(kernels, list) else ():
        if isinstance(kernel, dict):
            yield _origin_file(f"kernels for {kernel.get('python', 'Python')}", kernel)


def _origin_file(what: str, table: Mapping[str, Any]) -> OriginFile:
    return OriginFile(what, str(table.get("filename") or ""), str(table.get("sha256") or ""))


def list_facts(wheel: Wheel) -> Iterator[tuple[str, str]]:
    """Yield what else the origin says, in words: the provider, a decision to take another version, XLA's commit."""
    origin = wheel.entry.provenance
    providers = {
        "prebuilt": "taken from a published wheel, pinned by its hash",
        "source": "built from XLA's source",
        "none": "",
    }
    text = providers.get(wheel.entry.provider, "a library that was given by hand")
    if text:
        yield "Library", text
    if origin.get("xla_commit"):
        yield "XLA commit", str(origin["xla_commit"])
    override = origin.get("override")
    if isinstance(override, dict):
        yield "Another version was chosen", f"{override.get('version', '')}: {override.get('reason', '')}"
    if wheel.entry.built.commit:
        state = ", with changes that are in no commit" if wheel.entry.built.dirty else ""
        yield "Built from commit", f"{wheel.entry.built.commit}{state}"
    if wheel.entry.built.date:
        yield "Built on", wheel.entry.built.date.partition("T")[0]
