# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""One wheel's entry in `dist/release.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.tags import parse_tag

from pjrtwheel.prove.levels import ORDER, Level, Outcome
from pjrtwheel.prove.record import Proof
from pjrtwheel.wheel.report import Report

RELEASE_FILENAME = "release.json"
SCHEMA = 2

# What a proof has there; of these `pjrt_api` also stands beside the strongest one, where it was read.
EVIDENCE = ("backend", "level", "origin", "pjrt_api", "pythons", "targets")

_DASHES = 2  # of a tag, as in py3-none-any
_PYTHON = re.compile(r"cp\d\d+t?")
_NOTHING = (0, 0, 0, 0)  # the strength of a proof for which nothing was tried

# JSON values; the keys are the contract of release.json.
Entry = dict[str, Any]


def make_entry(report: Report, proof: Proof) -> Entry:
    """Combine what assembly reported and what proving showed."""
    facts = {
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
        "gpu_code": list(report.gpu_code),
        "stripped_bytes": report.stripped_bytes,
        "changes": {member: list(lines) for member, lines in report.changes.items()},
    }
    return _with_proofs(facts, [_evidence(proof)])


def add_proof(entry: Entry, proof: Proof) -> Entry:
    """Return an entry with what a further proof of the same bytes shows."""
    return _with_proofs(entry, [*proofs_of(entry), _evidence(proof)])


def proofs_of(entry: Entry) -> list[Entry]:
    """Return all proofs of a wheel, for each backend that it was proven with, the strongest first."""
    return [entry["proof"], *entry["other_proofs"]]


def read_entries(dist: Path) -> dict[str, Entry]:
    """Return the whole entries of the `release.json` of a folder by file name; none where there is no such file."""
    path = dist / RELEASE_FILENAME
    return parse_entries(path.read_bytes()) if path.is_file() else {}


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
    """Tell whether an entry has all that is read again from it: by merging, and by the pages and tables for people."""
    try:
        return (
            _are(str, (entry[key] for key in ("filename", "distribution", "version", "sha256", "lock_id")))
            and _are(int, (entry[key] for key in ("size", "stripped_bytes")))
            and _are(list, (entry[key] for key in ("gpu_code", "tags", "other_proofs")))
            and _are(str, [*entry["gpu_code"], entry["pjrt_api"] or ""])
            and all(tag.count("-") == _DASHES for tag in entry["tags"])
            and all(map(_is_whole_proof, proofs_of(entry)))
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def _is_whole_proof(proof: Entry) -> bool:
    """Tell the same of one proof; what is no table, or lacks a key, raises."""
    texts = [proof["origin"]["date"], *(proof[key] or "" for key in ("backend", "pjrt_api"))]
    texts += [target["target"] for target in proof["targets"]]
    texts += [python["summary"] for python in proof["pythons"]]
    return (
        proof.keys() >= set(EVIDENCE)
        and _are(str, texts)
        and _strength(proof) >= _NOTHING
        and all(_PYTHON.fullmatch(python["python"]) for python in proof["pythons"])
    )


def _are(kind: type, values: Iterable[object]) -> bool:
    """Tell whether all values are of a type."""
    return all(isinstance(value, kind) for value in values)


def merge_entries(old: Mapping[str, Entry], new: Iterable[Entry], present: Iterable[str]) -> dict[str, Entry]:
    """Put new entries over old ones, and forget wheels that are no longer there.

    Evidence about the very same bytes stays, for each backend: bindings are proven with every plugin, and a
    build without proofs shows less of a wheel than one with them.
    """
    merged = dict(old) | {entry["filename"]: _keep_proofs(old.get(entry["filename"]), entry) for entry in new}
    return {name: merged[name] for name in sorted(set(present) & set(merged))}


def _keep_proofs(old: Entry | None, new: Entry) -> Entry:
    if old is None or old["sha256"] != new["sha256"]:
        return new
    return _with_proofs(new, [*proofs_of(old), *proofs_of(new)])


def _with_proofs(entry: Entry, proofs: Sequence[Entry]) -> Entry:
    """Add the best proofs to an entry, whatever their order: one with each backend, and none that shows nothing.

    Programs that ran on a device do not take away for which chips others were compiled: both proofs stay then.

    Args:
        entry: All else about a wheel.
        proofs: At least one; where all of them show nothing, one is kept.
    """
    ranked = sorted(proofs, key=_rank)
    best = {proof["backend"]: proof for proof in ranked}
    compiled = {proof["backend"]: proof for proof in sorted(ranked, key=lambda proof: len(_chips(proof)))}
    kept = [*best.values(), *(proof for name, proof in compiled.items() if _chips(proof) and proof != best[name])]
    telling = [proof for proof in kept if _strength(proof) > _NOTHING] or ranked[-1:]
    by_name = sorted(telling, key=lambda proof: proof["backend"] or "")
    first, *others = sorted(by_name, key=_strength, reverse=True)
    return {**entry, "pjrt_api": first["pjrt_api"], "proof": first, "other_proofs": others}


def _evidence(proof: Proof) -> Entry:
    """Return a proof as it stands in an entry."""
    values = proof.to_json()
    return {key: values[key] for key in EVIDENCE}


def _rank(proof: Entry) -> tuple[tuple[int, ...], str, str]:
    """Return what to order proofs of the same bytes by: how much they show, then the later one last."""
    return _strength(proof), proof["origin"]["date"], json.dumps(proof, sort_keys=True)


def _strength(proof: Entry) -> tuple[int, int, int, int]:
    """Return how much a proof shows: the level, then on how many Pythons, for how many chips, by how many programs."""
    outcomes = [result["outcome"] for python in proof["pythons"] for result in python["programs"]]
    passed = outcomes.count(Outcome.PASSED)
    return ORDER.index(Level(proof["level"])), len(_pythons_tried(proof)), len(_chips(proof)), passed


def _chips(proof: Entry) -> list[str]:
    """Return the chips for which code came out ahead of time."""
    return [target["target"] for target in proof["targets"] if target["code"]]


def was_tried(proof: Entry) -> bool:
    """Tell whether a program ran for a proof, or was found not to be able to run."""
    return bool(_pythons_tried(proof))


def _pythons_tried(proof: Entry) -> list[Entry]:
    return [python for python in proof["pythons"] if python["programs"] or python["missed"]]


def format_entries(entries: Mapping[str, Entry]) -> str:
    """Return the text of `release.json`: in order of file name, with sorted keys and a final newline."""
    document = {"schema": SCHEMA, "wheels": [entries[name] for name in sorted(entries)]}
    return json.dumps(document, indent=2, sort_keys=True) + "\n"
