# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Small wheels with which an index has every kind of page: several releases, proofs, repairs, bills of materials."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxlib_select.facts import Backend, known_releases, load_facts
from pjrtwheel.products.index.projects import IndexedFile, list_projects
from pjrtwheel.products.index.release_pages.releases import ListedRelease, list_releases
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, format_entries
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import (
    Compilation,
    Level,
    Outcome,
    ProgramResult,
    Proof,
    ProofMachine,
    PythonProof,
    ResultKind,
    TargetProof,
)
from release_entries import entry_at
from small_wheels import build_wheel

ORIGIN = Origin("0123456789abcdef" * 2 + "01234567", dirty=False, version="0.1.0", date="2026-11-21T09:40:00Z")
MACHINE = ProofMachine("Linux-6.1-x86_64-with-glibc2.36", "A Processor")
KERNELS = "jaxlib_abacus_kernels-1.2.3+own.1-cp312-cp312-manylinux_2_27_x86_64.whl"
NAME = "jaxlib_abacus-1.2.3+own.1-cp312-abi3-manylinux_2_27_x86_64.whl"
_RAN = PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, "10 dtypes"),))
_COMPILED = ProgramResult("aot bead", Outcome.PASSED, Level.AOT, 1.0, "", ResultKind.TARGET)
_MISSED = ("device: no such device",)
_ABSENT = PythonProof("cp313", "", (), "no interpreter")


def make_release_dist(folder: Path) -> Path:
    """Write wheels of the releases that the selector knows into a folder, with `release.json`, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [entry for release in known_releases() for entry in _entries(folder, release)]
    (folder / RELEASE_FILENAME).write_text(format_entries({entry.filename: entry for entry in entries}), "utf-8")
    return folder


def _entries(folder: Path, release: str) -> Iterator[Entry]:
    backends = [backend for backend in load_facts(release).backends if backend.tags]
    version = backends[0].version
    for platform in ("manylinux_2_27_x86_64", "manylinux_2_27_aarch64", "macosx_11_0_arm64", "win_amd64"):
        for python in ("cp312", "cp313"):
            name = f"jaxlib-{version}-{python}-{python}-{platform}.whl"
            proof = Proof(Level.STATIC, None, (_ABSENT,), ORIGIN)
            yield _entry(folder, name, proof, requires=("numpy>=2.0",))
    for backend in backends:
        # An index may lack what the selector knows: one system less, where there are several.
        for platform, tag in sorted(backend.tags.items(), reverse=True)[:1]:
            stem = backend.distribution.replace("-", "_")
            name = f"{stem}-{version}-cp312-abi3-{tag}.whl"
            yield _entry(
                folder,
                name,
                _proof(backend, tag),
                requires=(f"jaxlib=={version}", 'beads>=2; extra == "with-beads"'),
                gpu_code=backend.code.get(platform, ()),
                provenance={"project": f"upstream-{backend.name}", "filename": "upstream.whl", "sha256": "ab" * 32},
                changes={f"{stem}/_a.cpython-31{minor}.so": ("dropped .symtab (1 kB)",) for minor in (2, 3)},
                stripped_bytes=1000,
                provider="prebuilt",
            )


def _proof(backend: Backend, tag: str) -> Proof:
    """Return a proof as a machine without an accelerator makes it: on the device for the CPU, else for two chips."""
    if backend.is_cpu:
        return Proof(Level.DEVICE, "0.1", (_RAN, _ABSENT), ORIGIN, backend=backend.name, machine=MACHINE)
    if not tag.endswith("x86_64"):
        return Proof(Level.STATIC, None, (_ABSENT,), ORIGIN, backend=backend.name)
    runs = (
        Compilation("matmul", "single", 1, 0.5, ("bead_5",), outcome=Outcome.PASSED),
        Compilation("pallas", "single", 1, 0.1, outcome=Outcome.EXPECTED, detail="no table for it"),
    )
    targets = (
        TargetProof("new", "Abacus with many beads", ("bead_5",), 1.0, runs),
        TargetProof("old", "Abacus with few beads", (), 1.0, runs[1:]),
    )
    python = PythonProof("cp312", "3.12.1", (_COMPILED,), missed=_MISSED)
    return Proof(Level.AOT, "0.1", (python, _ABSENT), ORIGIN, targets, backend.name, machine=MACHINE)


def _entry(folder: Path, name: str, proof: Proof, **more: object) -> Entry:
    stem = "-".join(name.split("-")[:2])
    sbom = {"components": [{"name": "upstream", "version": "1", "hashes": [{"alg": "SHA-256", "content": "ab" * 32}]}]}
    members = {
        f"{stem}.dist-info/licenses/LICENSE": b"Apache-2.0",
        f"{stem}.dist-info/sboms/pjrtwheel.cdx.json": json.dumps(sbom).encode(),
    }
    wheel = build_wheel(folder, members, name=name)
    return entry_at(wheel, proof=proof, lock_id="ff", built=ORIGIN, **more)


def file_of(entry: Entry, **more: Any) -> IndexedFile:
    """Return what an index says of a wheel."""
    return IndexedFile(entry.filename, entry.sha256, entry.size, entry=entry, **more)


def abacus_release(*entries: Entry) -> ListedRelease:
    """Return a release of such wheels."""
    return list_releases(list_projects(map(file_of, entries), "the index"))[0]
