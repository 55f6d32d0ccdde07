# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs that travel without the wheels: a small document that somebody signs off, and the record of a set takes in.

It names each wheel by the sha256 of its bytes. What was read is untrusted until it was compared with these wheels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.files import write_atomically
from pjrtwheel.record.origin import PRINTABLE
from pjrtwheel.record.proofs import Proof
from pjrtwheel.tables import TableError, column, read, read_json, write_json

SCHEMA: Literal[1] = 1
KNOWN_PROOFS = "releases/proofs"  # the folder of a repository with those of machines that are not always at hand
_LARGEST = 16 * 1024 * 1024  # bytes; a proof of all Pythons and chips has some hundred thousand
_WHEEL = r"[A-Za-z0-9][\w.+!]*(-[\w.+!]+){4,5}\.whl"  # PEP 427, and no separator of paths


@dataclass(frozen=True, slots=True)
class ProvenWheel:
    """A wheel, by its bytes, and what was shown of it.

    Attributes:
        proof: What was shown.
        wheel: Its file name.
        sha256: Hexadecimal digest of the bytes that were proven.
    """

    proof: Proof
    wheel: str = column(pattern=_WHEEL)
    sha256: str = column(pattern="[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ProofFile:
    """Proofs of one machine.

    Attributes:
        schema: Version of this format.
        wheels: One entry per wheel that something was shown of.
        date: When the run began that it is of; each proof has date and commit by itself, and the machine.
        signed_off_by: Who vouches for it.
    """

    schema: Literal[1]
    wheels: tuple[ProvenWheel, ...]
    date: str = column(pattern=r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
    signed_off_by: str = column(pattern=PRINTABLE)

    def signed(self) -> Iterator[ProvenWheel]:
        """Yield the wheels, with the signer in each proof, whatever the proofs themselves say of that."""
        for wheel in self.wheels:
            origin = replace(wheel.proof.origin, signed_off_by=self.signed_off_by)
            yield replace(wheel, proof=replace(wheel.proof, origin=origin))


def write_proof_file(
    path: Path, proofs: Mapping[str, Proof], digests: Mapping[str, str], *, signed_off_by: str, date: str
) -> None:
    """Write proofs by file name of the wheel, with the digests of the bytes that were proven."""
    wheels = tuple(ProvenWheel(proofs[name], name, digests[name]) for name in sorted(proofs))
    write_atomically(path, write_json(ProofFile(SCHEMA, wheels, date, signed_off_by)))


def read_proof_file(path: Path) -> ProofFile:
    """Read proofs that were made elsewhere, and hold them to themselves: levels and names.

    Raises:
        UsageError: There is no such file.
        ProofError: It is damaged, of another schema, or claims what it does not show.
    """
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    if path.stat().st_size > _LARGEST:
        raise _refusal(path, f"it has more than {_LARGEST} bytes")
    try:
        document = read_json(dict[str, Any], path.read_bytes())
        if document.get("schema") != SCHEMA:
            raise _refusal(path, f"it has schema {document.get('schema')!r}, this version reads {SCHEMA}")
        proofs = read(ProofFile, document)
    except TableError as error:
        raise _refusal(path, f"it is damaged: {error}") from error
    for fault in _find_faults(proofs):
        raise _refusal(path, fault)
    return proofs


def read_known_proofs(root: Path) -> dict[str, tuple[ProvenWheel, ...]]:
    """Return the proofs that a repository has, by file; see `read_proof_file`."""
    return {path.name: tuple(read_proof_file(path).signed()) for path in sorted((root / KNOWN_PROOFS).glob("*.json"))}


def match_proofs(proven: Sequence[ProvenWheel], digests: Mapping[str, str]) -> dict[str, Proof]:
    """Return the proofs of wheels with these sha256, by file name; none if one of those that ran together differs."""
    same = all(digests.get(one.wheel, one.sha256) == one.sha256 for one in proven)
    return {one.wheel: one.proof for one in proven if same and one.wheel in digests}


def _find_faults(proofs: ProofFile) -> Iterator[str]:
    """Yield why proofs are refused, whatever wheels there are."""
    names = [proven.wheel for proven in proofs.wheels]
    if not names:
        yield "it has no proofs"
    if len(set(names)) < len(names):
        yield "it names a wheel twice"
    for proven in proofs.wheels:
        proof = proven.proof
        if proof.level is not proof.shown_level():
            yield f"it claims {proof.level} for {proven.wheel}, but its results show {proof.shown_level()}"
        if any(python.failures() for python in proof.pythons):
            yield f"a program failed on {proven.wheel}"


def _refusal(path: Path, cause: str) -> ProofError:
    return ProofError(
        f"the proofs in {str(path)!r} are refused; nothing was changed",
        cause=cause,
        remedy="write them again, on the machine that ran the programs: ./noxw smoke_BACKEND --proofs FILE",
    )
