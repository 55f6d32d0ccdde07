# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""One wheel's entry in `dist/release.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from packaging.tags import parse_tag

from pjrtwheel.prove.levels import ORDER, Level
from pjrtwheel.prove.record import Proof
from pjrtwheel.wheel.report import Report

RELEASE_FILENAME = "release.json"
SCHEMA = 1

# What proving showed; it stays together, so that no level stands beside a version that was not read.
EVIDENCE = ("proof", "pjrt_api")

# JSON values; the keys are the contract of release.json.
Entry = dict[str, Any]


def make_entry(report: Report, proof: Proof) -> Entry:
    """Combine what assembly reported and what proving showed."""
    evidence = proof.to_json()
    return {
        "filename": report.wheel,
        "distribution": report.distribution,
        "version": report.version,
        "sha256": report.sha256,
        "size": report.size,
        "tags": sorted(str(tag) for tag in parse_tag(report.tag)),
        "requires": list(report.requires),
        "lock_id": report.lock_id,
        "provider": report.provider,
        "provenance": report.provenance,
        "pjrt_api": proof.pjrt_api,
        "gpu_code": list(report.gpu_code),
        "proof": {key: evidence[key] for key in ("level", "pythons", "targets")},
        "stripped_bytes": report.stripped_bytes,
        "changes": {member: list(lines) for member, lines in report.changes.items()},
    }


def parse_entries(data: bytes) -> dict[str, Entry]:
    """Return the whole entries of a `release.json` by file name; none for another schema or what is no JSON.

    The file can always be made again from the wheels' own reports, so a broken one is no reason to stop a build. One
    broken entry takes no other with it.
    """
    try:
        document = json.loads(data)
        entries = document["wheels"] if document["schema"] == SCHEMA else []
        return {entry["filename"]: entry for entry in entries if _is_whole(entry)}
    except (ValueError, KeyError, TypeError):
        return {}


def _is_whole(entry: Any) -> bool:
    """Tell whether an entry has all that is read again from it: by merging, and by the table."""
    try:
        texts = [entry[key] for key in ("filename", "distribution", "version", "sha256", "lock_id")]
        numbers = [entry["size"], entry["stripped_bytes"]]
        Level(entry["proof"]["level"])
        pythons = [python[key] for python in entry["proof"]["pythons"] for key in ("python", "summary")]
        api = entry["pjrt_api"]
        gpu_code = entry["gpu_code"]
    except (ValueError, KeyError, TypeError):
        return False
    return (
        all(isinstance(text, str) for text in [*texts, *pythons, api or ""])
        and all(isinstance(number, int) for number in numbers)
        and isinstance(gpu_code, list)
    )


def merge_entries(old: Mapping[str, Entry], new: Iterable[Entry], present: Iterable[str]) -> dict[str, Entry]:
    """Put new entries over old ones, and forget wheels that are no longer there.

    Evidence about the very same bytes stays: a build of the bindings alone shows less of them than one with a plugin.
    """
    merged = dict(old) | {entry["filename"]: _keep_proof(old.get(entry["filename"]), entry) for entry in new}
    return {name: merged[name] for name in sorted(set(present) & set(merged))}


def _keep_proof(old: Entry | None, new: Entry) -> Entry:
    if old is None or old["sha256"] != new["sha256"]:
        return new
    strength = [ORDER.index(Level(entry["proof"]["level"])) for entry in (old, new)]
    return new if strength[1] >= strength[0] else {**new, **{key: old[key] for key in EVIDENCE}}


def format_entries(entries: Mapping[str, Entry]) -> str:
    """Return the text of `release.json`: in order of file name, with sorted keys and a final newline."""
    document = {"schema": SCHEMA, "wheels": [entries[name] for name in sorted(entries)]}
    return json.dumps(document, indent=2, sort_keys=True) + "\n"
