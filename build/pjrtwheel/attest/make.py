# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Make a release out of `dist/`: one folder, whole or not at all, with links to its wheels and documents about them.

The documents are the bill of materials, the statement (`statement.py`) and the checksums.
"""

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from cyclonedx.model.component import Component, ComponentType
from packageurl import PackageURL
from securesystemslib.signer import CryptoSigner

from pjrtwheel.attest.locks import make_locks
from pjrtwheel.attest.release_folder import (
    DOCUMENTS,
    SIGNATURE_FILENAME,
    SUMS_FILENAME,
    ReleaseFolder,
    format_sums,
    read_release_folder,
)
from pjrtwheel.attest.release_set import ReleaseSet, find_others, find_release_set
from pjrtwheel.attest.signature import format_envelope, sign_bytes
from pjrtwheel.attest.statement import BOM_FILENAME, STATEMENT_FILENAME, find_commit, make_statement
from pjrtwheel.errors import AttestError, UsageError
from pjrtwheel.files import hash_file, link_or_copy, locked, replacement, staging_folder
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, format_entries
from pjrtwheel.record.origin import ask_git
from pjrtwheel.tables import write_json
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.sbom import SBOM_FILENAME, describe_part, format_bom, parse_bom, start_bom


def make_release(
    root: Path,
    tag: str,
    dist: Path,
    output: Path,
    *,
    signer: CryptoSigner | None = None,
    commit: str = "",
    locks: bool = True,
    environ: Mapping[str, str] = os.environ,
) -> ReleaseFolder:
    """Write the release of a tag, and return it as it is read back.

    Args:
        root: The repository.
        tag: The tag.
        dist: The folder of finished wheels.
        output: The folder to write; a release that is there is replaced.
        signer: The key that signs the statement and `SHA256SUMS`, if any.
        commit: The commit that the wheels have to be built from, as git takes it; any if empty.
        locks: Whether it gets lock files, which needs the package index.
        environ: Of the process; see `make_statement`.

    Raises:
        PjrtWheelError: The wheels are not one release, or something else is in the way; nothing is written then.
    """
    is_release = output.is_dir() and ((output / SUMS_FILENAME).is_file() or not any(output.iterdir()))
    if not is_release and (output.exists() or output.is_symlink()):
        raise UsageError(f"{output} is in the way: it is no release", remedy="give a new folder with --output")
    found = find_release_set(root, tag, dist)
    whole = ask_git(root, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}") if commit else ""
    origin = find_commit(found.entries, whole or commit)
    with staging_folder(output.parent) as staging:
        folder = staging / output.name
        folder.mkdir(mode=0o755)
        with locked(dist):  # or a build could replace a wheel between its check and its link
            digests = _link_files(found, dist, folder)
        record = format_entries({entry.filename: entry for entry in found.entries}).encode()
        documents = {RELEASE_FILENAME: record, BOM_FILENAME: make_bom(found, folder)}
        documents |= make_locks(folder, found.entries) if locks else {}
        digests |= {name: hashlib.sha256(data).hexdigest() for name, data in documents.items()}
        statement = write_json(make_statement(found, folder, digests, origin, environ)).encode()
        documents[STATEMENT_FILENAME] = format_envelope(statement, signer)
        digests[STATEMENT_FILENAME] = hashlib.sha256(documents[STATEMENT_FILENAME]).hexdigest()
        documents[SUMS_FILENAME] = format_sums(digests).encode()
        if signer:
            documents[SIGNATURE_FILENAME] = sign_bytes(documents[SUMS_FILENAME], signer)
        for name, data in documents.items():
            with replacement(folder / name) as file:
                file.write(data)
        if output.exists():
            output.rename(staging / "old")
        folder.rename(output)
    return read_release_folder(output)


def list_documents(entries: Collection[Entry], present: Collection[str]) -> tuple[str, ...]:
    """Return the names of all files but wheels that the release of some wheels will have.

    Args:
        entries: The wheels.
        present: Names of the files next to them.
    """
    return (*sorted((*find_others(entries, present), *DOCUMENTS)), SUMS_FILENAME)


def _link_files(found: ReleaseSet, dist: Path, folder: Path) -> dict[str, str]:
    """Put the files of a release into a folder, without their bytes where possible, and return their digests."""
    expected = {entry.filename: entry.sha256 for entry in found.entries}
    digests = {}
    for name in (*expected, *found.others):
        if (dist / name).is_file():
            link_or_copy((dist / name).resolve(), folder / name)  # of a link to a wheel, the wheel
            digests[name] = hash_file(folder / name)
        if name not in digests or digests[name] != expected.get(name, digests[name]):
            raise AttestError(
                f"{dist / name} is not the file that {RELEASE_FILENAME} describes",
                cause="it was damaged, replaced or removed after it was built",
                remedy="build it again",
            )
    return digests


def make_bom(found: ReleaseSet, dist: Path) -> bytes:
    """Return the document for the wheels of a release.

    Raises:
        WheelError: A wheel, or the document in it, is damaged.
    """
    root = Component(
        type=ComponentType.FRAMEWORK, name=found.tag, version=found.version, bom_ref=f"release:{found.tag}"
    )
    bom = start_bom(root, [found.tag, *(entry.sha256 for entry in found.entries)])
    known: dict[str, Component] = {}
    wheels = []
    for entry in found.entries:
        purl = PackageURL("pypi", None, entry.distribution, entry.version, {"file_name": entry.filename})
        wheel = describe_part(entry.distribution, entry.version, purl, sha256=entry.sha256)
        parts = [known.setdefault(str(part.bom_ref), part) for part in _read_parts(dist / entry.filename)]
        wheels.append(wheel)
        bom.register_dependency(wheel, parts)
    bom.register_dependency(root, wheels)
    bom.components.update([*wheels, *known.values()])
    return format_bom(bom).encode()


def _read_parts(wheel: Path) -> list[Component]:
    """Return what a wheel was made from; nothing for one without a document.

    Wheels of different Pythons are made from different files of one project, so the digest becomes part of a reference.
    """
    member = f"{parse_name(wheel.name).dist_info}/sboms/{SBOM_FILENAME}"
    with open_wheel(wheel) as archive:
        data = archive.read(member) if member in archive.namelist() else b"{}"
    bom = parse_bom(data, f"{SBOM_FILENAME} of {wheel.name}")
    for component in bom.components:
        content = repr((component.hashes, component.properties, component.version, component.purl))
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        component.bom_ref.value = f"{component.bom_ref.value}#{digest}"
    return list(bom.components)
