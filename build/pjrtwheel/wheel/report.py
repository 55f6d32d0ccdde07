# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`report.json`: what assembly wrote and changed, for the steps that follow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

REPORT_FILENAME = "report.json"


@dataclass(frozen=True, slots=True)
class AssemblyReport:
    """The facts about one finished wheel.

    Attributes:
        wheel: File name.
        distribution: Project name.
        version: Version.
        tag: Compressed tag set.
        sha256: Digest of the file.
        size: Length of the file.
        requires: The `Requires-Dist` lines.
        lock_id: Identity of the set this wheel belongs to; empty when it has no lock.
        provider: Where the inputs came from.
        provenance: Origin of the library, as the provider wrote it.
        changes: Member → what repair changed, in words.
        findings: Member → what is wrong and could not be repaired, in words.
        stripped_bytes: Bytes that repair dropped, before compression.
        members: Member → size and sha256.
    """

    wheel: str
    distribution: str
    version: str
    tag: str
    sha256: str
    size: int
    requires: tuple[str, ...]
    lock_id: str
    provider: str
    provenance: Mapping[str, Any]
    changes: Mapping[str, tuple[str, ...]]
    findings: Mapping[str, tuple[str, ...]]
    stripped_bytes: int
    members: Mapping[str, Mapping[str, int | str]]

    def to_json(self) -> str:
        """Return the document: sorted keys, final newline."""
        return json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"

    def describe(self) -> str:
        """Return the report in words, one line for the wheel and one for each change or finding."""
        lines = [f"{self.wheel} ({self.size} bytes)"]
        lines += [f"  {member}: {line}" for member, changes in self.changes.items() for line in changes]
        lines += [f"  {member}: WARNING: {line}" for member, found in self.findings.items() for line in found]
        return "\n".join(lines)
