# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Keep proofs in the cache, under a key over all that they depend on, such as the hardware of this machine.

Of the hardware, the key has only what can be found out quickly each time.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.prove.inputs import ProofInputs
from pjrtwheel.record.proofs import Proof
from pjrtwheel.wheel.report import BuiltWheel

_SCHEMA = 7
ROOT = Path("/")

# Variables that the dynamic linker reads (ld.so(8)); those of a vendor's libraries are in the backend's file. The
# rest of an environment changes from one shell to the next and has no part in a proof.
_LINKER = ("LD_", "GLIBC_")

# Terminals come and go, and these links lead to whatever a process was started with.
_PASSING = ("pts", "stdin", "stdout", "stderr")


@dataclass(frozen=True, slots=True)
class MachineState:
    """What the evidence depends on beyond files that are hashed.

    Attributes:
        nodes: Device nodes, and whether this user may use each.
        linker: Time and size of the dynamic linker's own index (ldconfig(8)), which is written anew when a package
            brings or updates a library; nothing where there is none.
        libraries: Libraries in the folders that are looked in besides, with their sizes.
        environ: Variables that the programs see and vendors' libraries read.
        checker: Version of the package with the conformance checks.
    """

    nodes: tuple[tuple[str, bool], ...]
    linker: tuple[int, ...]
    libraries: tuple[tuple[str, int], ...]
    environ: tuple[tuple[str, str], ...]
    checker: str


def proof_key(
    built: Sequence[BuiltWheel],
    inputs: ProofInputs,
    interpreters: Mapping[str, Interpreter | None],
    wheelhouses: Sequence[Path],
    machine: MachineState,
) -> str:
    """Return the identity of everything that the proofs of a set depend on.

    The wheelhouses are part of it: a requirement alone does not say which version was installed. The machine is, too:
    with an accelerator or a driver that came later, more can be shown.
    """
    identity = [
        _SCHEMA,
        [[(path.name, hash_file(path)) for path in sorted(folder.glob("*.whl"))] for folder in wheelhouses],
        inputs.backend and replace(inputs.backend, path=Path()),
        inputs.targets,
        sorted(inputs.all_requirements),
        machine,
        [(wheel.path.name, wheel.report.sha256) for wheel in built],
        [(path.name, hash_file(path)) for path in inputs.files()],
        [(tag, found.version, found.prefix, found.emulated) if found else tag for tag, found in interpreters.items()],
    ]
    return hashlib.sha256(tables.write_json(identity).encode()).hexdigest()


def read_proofs(path: Path) -> dict[str, Proof] | None:
    """Return the proofs kept in a file, by file name of the wheel; nothing if it is missing, broken or an older one."""
    try:
        return tables.read_json(dict[str, Proof], path.read_bytes())
    except (FileNotFoundError, tables.TableError):
        return None


def write_proofs(path: Path, proofs: Mapping[str, Proof]) -> None:
    """Keep proofs in a file."""
    write_atomically(path, tables.write_json(proofs))


def describe_machine(
    environ: Mapping[str, str], search_paths: Sequence[str] = (), prefixes: Sequence[str] = (), root: Path = ROOT
) -> MachineState:
    """Look at the machine, below the `root` of a file system.

    The backend's libraries are looked for in `search_paths`, such as `/opt/rocm/lib`; they read variables of the
    programs' environment whose names begin with one of some prefixes, such as `ROCM_`.
    """
    index = root / "etc/ld.so.cache"
    status = index.stat() if index.is_file() else None
    folders = [path for path in (*search_paths, *environ.get("LD_LIBRARY_PATH", "").split(":")) if path.startswith("/")]
    files = {path for folder in folders for path in (root / folder.lstrip("/")).glob("*.so*") if path.is_file()}
    return MachineState(
        nodes=tuple(sorted(find_nodes(root / "dev"))),
        linker=(status.st_mtime_ns, status.st_size) if status else (),
        libraries=tuple((str(path), path.stat().st_size) for path in sorted(files)),
        environ=tuple(sorted(item for item in environ.items() if item[0].startswith((*_LINKER, *prefixes)))),
        checker=_checker_version(),
    )


def find_nodes(dev: Path) -> Iterator[tuple[str, bool]]:
    """Yield path and usability of every device node, also of those below subfolders, such as `dri/renderD128`."""
    for folder, folders, names in os.walk(dev):
        folders[:] = [name for name in folders if name not in _PASSING]
        for name in sorted({*names}.difference(_PASSING)):
            path = Path(folder) / name
            if path.is_char_device():
                yield str(path.relative_to(dev)), os.access(path, os.R_OK | os.W_OK)


def _checker_version() -> str:
    try:
        return importlib.metadata.version("pypjrt")
    except importlib.metadata.PackageNotFoundError:
        return ""
