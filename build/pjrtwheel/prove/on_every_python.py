# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove a set of finished wheels on every Python that is here, unless that was done before.

Proofs are kept in the cache, under a key over all that they depend on, such as the hardware of this machine: of that,
what can be found out quickly each time.
"""

import hashlib
import importlib.metadata
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pjrtwheel import tables
from pjrtwheel.backend import Backend
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import wheelhouse
from pjrtwheel.errors import ProofError, count, fit
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.platforms import host_platform
from pjrtwheel.probe.plugin import ProbeOutcome, ProbeResult, probe_file
from pjrtwheel.progress import LINES, Progress
from pjrtwheel.prove.devices import NOTHING_OPENED
from pjrtwheel.prove.inputs import ProofInputs, load_inputs
from pjrtwheel.prove.on_python import Evidence, can_prove, fitting, prove_python
from pjrtwheel.record.origin import Origin, counts_for
from pjrtwheel.record.proofs import Level, Proof, PythonProof, ResultKind, highest
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.report import BuiltWheel


def prove(
    built: Sequence[BuiltWheel],
    *,
    root: Path,
    release: Release,
    backend: Backend | None,
    origin: Origin,
    cache: Path,
    smoke_tests: bool = True,
    progress: Progress = LINES,
) -> dict[str, Proof]:
    """Gather the strongest evidence this machine can give about a set of wheels, as one proof per wheel, by file name.

    The set is the plugin's wheel, if there is a `backend`, and the bindings'. Without `smoke_tests` no program runs.
    `origin` is the state of the repository that all of this is done from.

    Raises:
        FailedProofError: A program failed.
        ProofError: The wheels do not install.
    """
    wheels = [wheel.path for wheel in built]
    platform = platform_of(wheels)
    tags = release.pythons(platform)
    here = platform == host_platform().name
    if not here or not smoke_tests:
        reason = "smoke tests switched off" if here else f"built on {host_platform().name}, where they do not run"
        opened = _open_plugin(wheels, backend) if here else NOTHING_OPENED
        if opened.outcome not in {ProbeOutcome.PASSED, ProbeOutcome.NO_DEVICE} and opened.reason:
            progress.say(f"warning: the library does not run here: {opened.summary()}")
        untried = {tag: Evidence(PythonProof(tag, "", (), reason), opened=opened) for tag in tags}
        return combine(wheels, untried, backend, origin)
    inputs, interpreters = load_inputs(root, release, backend), find_interpreters(tags)
    path = _kept_path(built, inputs, interpreters, cache)
    kept = read_proofs(path)
    if kept is not None and all(counts_for(proof.origin, origin, root) for proof in kept.values()):
        progress.say("proven before on this machine, with the same bytes and programs")
        return kept
    evidence: dict[str, Evidence] = {}
    for tag, interpreter in interpreters.items():
        # The first Python that can compiles for every target.
        every_target = not any(found.targets for found in evidence.values())
        evidence[tag] = prove_python(
            tag, interpreter, wheels, inputs, cache=cache, every_target=every_target, progress=progress
        )
    proofs = combine(wheels, evidence, backend, origin)
    raise_failures([found.python for found in evidence.values()], path.with_suffix(".failed.txt"), backend, proofs)
    write_atomically(path, tables.write_json(proofs))
    return proofs


def _open_plugin(wheels: Iterable[Path], backend: Backend | None) -> ProbeResult:
    """Open the library in the plugin's wheel, if there is one, without installing the wheel."""
    if backend is None or not backend.prebuilt.bundled:
        return NOTHING_OPENED
    plugin = next(wheel for wheel in wheels if parse_name(wheel.name).distribution == backend.distribution)
    return probe_file(plugin, (backend,), device=False)


def platform_of(wheels: Iterable[Path]) -> str:
    """Return the platform that the wheels of a set are for.

    Raises:
        ProofError: They are for several, or for none we know, or they are of several sets.
    """
    names = [parse_name(wheel.name) for wheel in wheels]
    found = {name.platform for name in names}
    if len(found) != 1 or None in found:
        known = sorted(platform.name for platform in found if platform)
        raise ProofError(f"wheels of one set must be for one platform, not {known or 'none'}")
    if len(versions := sorted({name.version for name in names})) > 1:
        raise ProofError(f"wheels of one set must have one version, not {', '.join(versions)}")
    (platform,) = filter(None, found)
    return platform.name


def _kept_path(
    built: Sequence[BuiltWheel], inputs: ProofInputs, interpreters: Mapping[str, Interpreter | None], cache: Path
) -> Path:
    """Return where proofs are kept, by all that they depend on; that is downloaded first."""
    wheels, backend = [wheel.path for wheel in built], inputs.backend
    wheelhouses = [
        wheelhouse(interpreter, inputs.all_requirements, fitting(wheels, tag), cache)
        for tag, interpreter in interpreters.items()
        if interpreter is not None and can_prove(wheels, tag)
    ]
    machine = describe_machine(clean_environ(), backend.env_prefixes if backend else ())
    return cache / "proofs" / f"{proof_key(built, inputs, interpreters, wheelhouses, machine)}.json"


def combine(
    wheels: Sequence[Path], evidence: Mapping[str, Evidence], backend: Backend | None, origin: Origin
) -> dict[str, Proof]:
    """Return what all Pythons together showed of each wheel of a set, by file name."""
    return {wheel.name: _combine(wheel.name, evidence, backend, origin) for wheel in wheels}


def _combine(wheel: str, evidence: Mapping[str, Evidence], backend: Backend | None, origin: Origin) -> Proof:
    name = parse_name(wheel)
    found = [entry for tag, entry in evidence.items() if name.fits(tag)]
    is_plugin = backend is not None and name.distribution == backend.distribution
    libraries = (entry.opened for entry in found if is_plugin and entry.opened.pjrt_api)
    opened = next(libraries, NOTHING_OPENED)
    levels = [entry.python.level for entry in found]
    if opened.pjrt_api:
        levels.append(Level.LOAD)
    return Proof(
        level=highest(levels),
        pjrt_api=opened.pjrt_api or None,
        pythons=tuple(entry.python for entry in found),
        origin=origin,
        targets=max((entry.targets for entry in found), key=len, default=()) if is_plugin else (),
        backend=backend.name if backend else None,
        pjrt_attributes=opened.attributes,
        machine=next((entry.machine for entry in found if entry.machine), None),
    )


class FailedProofError(ProofError):
    """Programs failed.

    Attributes:
        proofs: What they and the others showed, by file name of the wheel.
    """

    proofs: Mapping[str, Proof]


def raise_failures(
    pythons: Sequence[PythonProof], log: Path, backend: Backend | None, proofs: Mapping[str, Proof]
) -> None:
    """Raise with every program that failed on any Python, and leave their whole output in `log`.

    There may be `proofs`, what all showed, which a build can keep.

    Raises:
        FailedProofError: There is at least one.
    """
    failures = [(proof, result) for proof in pythons for result in proof.failures()]
    if failures:
        names = [f"{result.program} on Python {proof.interpreter}" for proof, result in failures]
        texts = [result.detail.strip() for _, result in failures]
        write_atomically(log, "\n\n".join(f"{name}\n{text}" for name, text in zip(names, texts, strict=True)) + "\n")
        ways = ["fix what failed"]
        if backend and failures[0][1].kind is ResultKind.PROGRAM:
            known = backend.path.is_file()
            place = f"of {backend.path}" if known else "in wrap --save DIR, for smoke WHEEL --backend DIR"
            ways.append(f"declare it with error and reason: [smoke.fails.{failures[0][1].program}] {place}")
        ways += ["--keep DIR keeps the wheels and the record apart"] if proofs else []
        error = FailedProofError(
            f"{count(len(failures), 'program')} failed: {fit(names)}",
            cause=f"{find_cause(texts[0])} (the whole output is in {log})",
            remedy="; or ".join(ways),
        )
        error.proofs = proofs
        raise error


def find_cause(text: str) -> str:
    r"""Return the line of a program's output that says the most: where there is a traceback, its exception.

    >>> find_cause("Traceback (most recent call last):\n  File a, line 1, in f\nError: no bead\npy_client.cc:425")
    'Error: no bead'
    """
    lines = text.splitlines() or ["it left no output"]
    frames = [number for number, line in enumerate(lines) if line.startswith("  File ")]
    if "Traceback (most recent call last):" not in lines or not frames:
        return (lines[0] if lines[0].startswith("killed by ") else lines[-1]).strip()
    return next((line for line in lines[frames[-1] + 1 :] if line and not line.startswith(" ")), lines[-1]).strip()


_SCHEMA = 7
ROOT = Path("/")

# Variables that the dynamic linker reads (ld.so(8)); those of a vendor's libraries are in the backend's file. The
# rest of an environment changes from one shell to the next and has no part in a proof.
_LINKER = ("LD_", "GLIBC_")

# Terminals come and go, and these links lead to whatever a process was started with.
_PASSING = ("pts", "stdin", "stdout", "stderr")


def proof_key(
    built: Sequence[BuiltWheel],
    inputs: ProofInputs,
    interpreters: Mapping[str, Interpreter | None],
    wheelhouses: Sequence[Path],
    machine: Sequence[Any],
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
        importlib.metadata.version("pypjrt"),
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


def describe_machine(environ: Mapping[str, str], prefixes: Sequence[str] = (), root: Path = ROOT) -> list[Any]:
    """Return what evidence depends on beyond files that are hashed, of the machine below the `root` of a file system.

    Libraries read variables of the programs' environment whose names begin with one of some prefixes, such as `ROCM_`.
    """
    index = root / "etc/ld.so.cache"
    status = index.stat() if index.is_file() else None
    return [
        sorted(find_nodes(root / "dev")),
        # The dynamic linker's own index (ldconfig(8)) is written anew when a package brings or updates a library.
        (status.st_mtime_ns, status.st_size) if status else None,
        sorted(item for item in environ.items() if item[0].startswith((*_LINKER, *prefixes))),
    ]


def find_nodes(dev: Path) -> Iterator[tuple[str, bool]]:
    """Yield path and usability of every device node, also of those below subfolders, such as `dri/renderD128`."""
    for path in dev.rglob("*"):
        name = path.relative_to(dev)
        if path.is_char_device() and not set(name.parts).intersection(_PASSING):
            yield str(name), os.access(path, os.R_OK | os.W_OK)
