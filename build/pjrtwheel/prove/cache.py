# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Keep evidence in the cache, under a key over everything that it depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.errors import ProofError
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.prove.levels import PythonProof
from pjrtwheel.prove.machine import Machine
from pjrtwheel.prove.material import Material
from pjrtwheel.prove.record import Proof, parse_proof
from pjrtwheel.wheel.report import BuiltWheel

_SCHEMA = 5


def evidence_key(
    built: Sequence[BuiltWheel],
    material: Material,
    interpreters: Mapping[str, Interpreter | None],
    houses: Sequence[Path],
    machine: Machine,
) -> str:
    """Return the identity of everything that the evidence depends on.

    Args:
        built: The wheels under test.
        material: Programs, targets, and what is installed beside the wheels.
        interpreters: Tag → interpreter.
        houses: The folders it is installed from; a requirement alone does not say which version that was.
        machine: What this machine has: with an accelerator or a driver that came later, more can be shown.
    """
    identity = [
        _SCHEMA,
        [[(path.name, hash_file(path)) for path in sorted(house.glob("*.whl"))] for house in houses],
        {**asdict(material.backend), "path": ""} if material.backend else None,
        [asdict(target) for target in material.targets],
        sorted(material.requirements),
        asdict(machine),
        [(wheel.path.name, wheel.report.sha256) for wheel in built],
        [(path.name, hash_file(path)) for path in material.files()],
        [(tag, found.version, found.prefix) if found else (tag, "", "") for tag, found in interpreters.items()],
    ]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def read_proofs(path: Path) -> tuple[Proof, ...] | None:
    """Return the proofs kept in a file, if it is there and of this schema."""
    try:
        return tuple(parse_proof(entry) for entry in json.loads(path.read_text("utf-8")))
    except (FileNotFoundError, KeyError, TypeError, ValueError):
        return None


def write_proofs(path: Path, proofs: Iterable[Proof]) -> None:
    """Keep proofs in a file."""
    write_atomically(path, json.dumps([proof.to_json() for proof in proofs], indent=1))


def raise_failures(pythons: Iterable[PythonProof], log: Path) -> None:
    """Raise with every program that failed on any Python, and leave their whole output in `log`.

    Raises:
        ProofError: There is at least one.
    """
    failures = [(proof, result) for proof in pythons for result in proof.failures()]
    if failures:
        names = [f"{result.program} on Python {proof.interpreter}" for proof, result in failures]
        texts = [result.detail.strip() for _, result in failures]
        write_atomically(log, "\n\n".join(f"{name}\n{text}" for name, text in zip(names, texts, strict=True)) + "\n")
        more = f", and {len(failures) - 1} more" if len(failures) > 1 else ""
        raise ProofError(
            f"program failed: {names[0]}{more}",
            cause=find_cause(texts[0]),
            remedy=f"the whole output of all that failed is in {log}",
        )


def find_cause(text: str) -> str:
    r"""Return the line of a program's output that tells the most: where there is a traceback, its exception.

    >>> find_cause("Traceback (most recent call last):\n  File a, line 1, in f\nError: no bead\npy_client.cc:425")
    'Error: no bead'
    """
    lines = text.splitlines() or ["it left no output"]
    frames = [number for number, line in enumerate(lines) if line.startswith("  File ")]
    if "Traceback (most recent call last):" not in lines or not frames:
        return (lines[0] if lines[0].startswith("killed by ") else lines[-1]).strip()
    return next((line for line in lines[frames[-1] + 1 :] if line and not line.startswith(" ")), lines[-1]).strip()
