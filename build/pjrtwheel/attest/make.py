# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Make a release out of `dist/`: find its wheels, describe them in documents, and write all into one folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from securesystemslib.signer import CryptoSigner

from pjrtwheel.attest.bom import BOM_FILENAME, make_bom
from pjrtwheel.attest.checksums import SUMS_FILENAME
from pjrtwheel.attest.envelope import format_envelope
from pjrtwheel.attest.pep740 import make_provenance
from pjrtwheel.attest.provenance import find_commit, make_statement
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.attest.release_set import ReleaseSet, find_others, find_release_set
from pjrtwheel.attest.statement import STATEMENT_FILENAME, format_statement
from pjrtwheel.attest.write import release_document, write_release_folder
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry
from pjrtwheel.record.origin import ask_git
from pjrtwheel.wheel.names import ATTESTATION_SUFFIX, PROVENANCE_SUFFIX


def make_release(
    root: Path,
    tag: str,
    dist: Path,
    output: Path,
    *,
    signer: CryptoSigner | None = None,
    commit: str = "",
    environ: Mapping[str, str] = os.environ,
) -> ReleaseFolder:
    """Write the release of a tag, and return it.

    Args:
        root: The repository.
        tag: The tag.
        dist: The folder of finished wheels.
        output: The folder to write.
        signer: The key that signs the statement, if any.
        commit: The commit that the wheels have to be built from, as git takes it; any if empty.
        environ: Of the process; see `make_statement`.

    Raises:
        PjrtWheelError: The wheels are not one release; nothing is written then.
    """
    found = find_release_set(root, tag, dist)
    whole = ask_git(root, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}") if commit else ""
    origin = find_commit(found.entries, whole or commit)
    documents = {BOM_FILENAME: make_bom(found, dist), **_make_provenances(found, dist)}
    digests = {entry.filename: entry.sha256 for entry in found.entries}
    digests |= {name: hash_file(dist / name) for name in found.others}
    made = {RELEASE_FILENAME: release_document(found), **documents}
    digests |= {name: hashlib.sha256(data).hexdigest() for name, data in made.items()}
    statement = make_statement(found, dist, digests, origin, environ)
    documents[STATEMENT_FILENAME] = format_envelope(format_statement(statement), signer)
    return write_release_folder(found, dist, output, documents)


def list_documents(entries: Collection[Entry], present: Collection[str]) -> tuple[str, ...]:
    """Return the names of all files but wheels that the release of some wheels will have.

    Args:
        entries: The wheels.
        present: Names of the files next to them.
    """
    others = find_others(entries, present)
    attested = [name.removesuffix(ATTESTATION_SUFFIX) for name in others if name.endswith(ATTESTATION_SUFFIX)]
    made = (BOM_FILENAME, RELEASE_FILENAME, STATEMENT_FILENAME, *(f"{name}{PROVENANCE_SUFFIX}" for name in attested))
    return (*sorted((*others, *made)), SUMS_FILENAME)


def _make_provenances(found: ReleaseSet, dist: Path) -> dict[str, bytes]:
    """Return the provenance object (PEP 740) of each wheel that has an attestation, by its name."""
    attested = {f"{entry.filename}{ATTESTATION_SUFFIX}": entry for entry in found.entries}
    return {
        f"{entry.filename}{PROVENANCE_SUFFIX}": make_provenance(
            entry.filename, entry.sha256, (dist / name).read_bytes()
        )
        for name, entry in attested.items()
        if name in found.others
    }
