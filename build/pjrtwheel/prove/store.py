# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Keep evidence in the cache, under a key over everything that it depends on."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import ProofError
from pjrtwheel.fetch.cache import file_sha256
from pjrtwheel.prove import smoke
from pjrtwheel.prove.interpreters import Interpreter
from pjrtwheel.prove.levels import PythonProof
from pjrtwheel.prove.record import Proof, parse_proof
from pjrtwheel.wheel.report import BuiltWheel

_SCHEMA = 2  # evidence of schema 1 may be about an older wheel of the same name


def evidence_key(
    built: Sequence[BuiltWheel],
    programs: Sequence[Path],
    interpreters: Mapping[str, Interpreter | None],
    backend: Backend | None,
    requirements: Sequence[str],
    houses: Sequence[Path],
) -> str:
    """Return the identity of everything that the evidence depends on.

    Args:
        built: The wheels under test.
        programs: The smoke programs.
        interpreters: Tag → interpreter.
        backend: The plugin in the set.
        requirements: What is installed beside the wheels, by name.
        houses: The folders it is installed from; a requirement alone does not say which version that was.
    """
    identity = [
        _SCHEMA,
        [[(path.name, file_sha256(path)) for path in sorted(house.glob("*.whl"))] for house in houses],
        backend.name if backend else None,
        sorted(requirements),
        [(wheel.path.name, wheel.report.sha256) for wheel in built],
        [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in [*programs, smoke.HARNESS]],
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
    _write(path, json.dumps([proof.to_json() for proof in proofs], indent=1))


def raise_failures(pythons: Iterable[PythonProof], log: Path) -> None:
    """Raise with every program that failed on any Python, and leave their whole output in `log`.

    Raises:
        ProofError: There is at least one.
    """
    failures = [(proof, result) for proof in pythons for result in proof.failures()]
    if failures:
        names = [f"{result.program} on Python {proof.interpreter}" for proof, result in failures]
        texts = [result.detail.strip() for _, result in failures]
        _write(log, "\n\n".join(f"{name}\n{text}" for name, text in zip(names, texts, strict=True)) + "\n")
        more = f", and {len(failures) - 1} more" if len(failures) > 1 else ""
        raise ProofError(
            f"smoke program failed: {names[0]}{more}",
            cause=(texts[0] or "it left no output").splitlines()[-1].strip(),
            remedy=f"the whole output of all that failed is in {log}",
        )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as stream:
        stream.write(text)
    Path(stream.name).replace(path)
