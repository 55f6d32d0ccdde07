# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove finished wheels: run real JAX on them in clean environments, and record what was shown.

Evidence is kept in the cache under a key over everything it depends on (the wheels' bytes, the programs, the
interpreters), so that proving the same bytes again on the same machine costs nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import ProofError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS, host_platform
from pjrtwheel.prove import environment, library, smoke
from pjrtwheel.prove.interpreters import Interpreter, find_interpreters
from pjrtwheel.prove.levels import Level, PythonProof, highest
from pjrtwheel.prove.record import Proof, parse_proof
from pjrtwheel.release import Release
from pjrtwheel.verify.report import BuiltWheel

__all__ = ["Level", "Proof", "prove", "prove_python"]

_SCHEMA = 1
_LOAD_SECONDS = 120


def prove(
    built: Sequence[BuiltWheel],
    *,
    root: Path,
    release: Release,
    backend: Backend | None,
    smoke_tests: bool = True,
    cache: Path | None = None,
    fresh: bool = False,
) -> tuple[Proof, ...]:
    """Gather the strongest evidence this machine can give about a set of wheels.

    Args:
        built: The wheels of one set: the plugin's, if there is one, and the bindings'.
        root: Root of the repository, for the smoke programs.
        release: The release, for the Pythons it supports.
        backend: The plugin in the set; nothing for a set of bindings alone.
        smoke_tests: Whether to run programs at all.
        cache: Root of the cache; the machine's own when absent.
        fresh: Ignore evidence of earlier runs.

    Returns:
        One proof per wheel, in the order of `built`.

    Raises:
        ProofError: A program failed, or the wheels do not install.
    """
    cache = cache or cache_root(os.environ)
    platform = _platform_of(built)
    if platform != host_platform().name:
        return _unproven(built, release.pythons(platform), f"wheels are for {platform}")
    if not smoke_tests:
        versions = {wheel.path.name: _read_api(wheel, backend) for wheel in built}
        return _unproven(built, release.pythons(platform), "smoke tests switched off", versions)
    interpreters = find_interpreters(release.pythons(platform))
    programs = smoke.find_programs(root)
    store = cache / "proofs" / f"{_key(built, programs, interpreters, backend)}.json"
    if store.is_file() and not fresh:
        print("proven before on this machine, with the same bytes and programs", file=sys.stderr, flush=True)
        return tuple(parse_proof(entry) for entry in json.loads(store.read_text("utf-8")))
    requirements = [f"jax=={release.version}", *environment.requirement_group(root, "smoke")]
    pythons = {
        tag: prove_python(
            tag, interpreter, [wheel.path for wheel in built], programs, requirements, backend=backend, cache=cache
        )
        for tag, interpreter in interpreters.items()
    }
    _raise_failures(pythons.values())
    proofs = tuple(_combine(wheel, _read_api(wheel, backend), pythons) for wheel in built)
    store.parent.mkdir(parents=True, exist_ok=True)
    _write_atomically(store, json.dumps([proof.to_json() for proof in proofs], indent=1))
    return proofs


def prove_python(
    tag: str,
    interpreter: Interpreter | None,
    wheels: Sequence[Path],
    programs: Sequence[Path],
    requirements: Sequence[str],
    *,
    backend: Backend | None,
    cache: Path,
) -> PythonProof:
    """Run every program on one Python, in a fresh environment with the wheels installed by name."""
    if interpreter is None:
        return PythonProof(tag, "", (), "no interpreter")
    wheels = [wheel for wheel in wheels if fits(wheel_tag(wheel), tag)]
    if not any(wheel.name.startswith("jaxlib-") for wheel in wheels):
        return PythonProof(tag, interpreter.version, (), "no jaxlib wheel of this set")
    print(f"proving on Python {interpreter.version}: {len(programs)} programs", file=sys.stderr, flush=True)
    house = environment.wheelhouse(interpreter, requirements, wheels, cache)
    with tempfile.TemporaryDirectory(prefix="prove-") as scratch:
        python = environment.create_venv(interpreter, Path(scratch) / "venv")
        ours = [environment.requirement_of(wheel) for wheel in wheels]
        environment.install(python, [*requirements, *ours], {house, *(wheel.parent for wheel in wheels)})
        return PythonProof(tag, interpreter.version, smoke.run_programs(python, programs, backend))


def wheel_tag(wheel: Path) -> str:
    """Return the compressed tag set of a wheel's file name.

    >>> wheel_tag(Path("jaxlib-0.11.2-1-cp312-cp312-manylinux_2_27_x86_64.whl"))
    'cp312-cp312-manylinux_2_27_x86_64'
    """
    return "-".join(wheel.stem.split("-")[-3:])


def fits(tag: str, python: str) -> bool:
    """Tell whether a wheel's tag is for a Python: the same one, or the stable ABI of this or an older one.

    >>> fits("cp312-abi3-manylinux_2_27_x86_64", "cp313"), fits("cp312-cp312-manylinux_2_27_x86_64", "cp313")
    (True, False)
    """
    interpreter, abi, _ = tag.split("-")
    return interpreter == python or (abi == "abi3" and int(interpreter[3:]) <= int(python[3:].rstrip("t")))


def _combine(wheel: BuiltWheel, api: str | None, pythons: Mapping[str, PythonProof]) -> Proof:
    entries = tuple(proof for tag, proof in pythons.items() if fits(wheel.report.tag, tag))
    levels = [proof.level() for proof in entries]
    if api is not None:
        levels.append(Level.LOAD)
    return Proof(wheel.path.name, highest(levels), api, (), entries)


def _unproven(
    built: Sequence[BuiltWheel], tags: Sequence[str], reason: str, api: Mapping[str, str | None] | None = None
) -> tuple[Proof, ...]:
    versions = api or {}
    return tuple(
        Proof(
            wheel.path.name,
            Level.LOAD if versions.get(wheel.path.name) else Level.STATIC,
            versions.get(wheel.path.name),
            (),
            tuple(PythonProof(tag, "", (), reason) for tag in tags if fits(wheel.report.tag, tag)),
        )
        for wheel in built
    )


def _platform_of(built: Sequence[BuiltWheel]) -> str:
    """Return the platform that all wheels of a set are for.

    Raises:
        ProofError: They are for several, or for none we know.
    """
    found = {
        platform.name
        for wheel in built
        for platform in PLATFORMS.values()
        if wheel.report.tag.endswith(f"_{platform.architecture}")
    }
    if len(found) != 1:
        raise ProofError(f"wheels of one set must be for one platform, not {sorted(found) or 'none'}")
    return found.pop()


def _read_api(wheel: BuiltWheel, backend: Backend | None) -> str | None:
    """Open the plugin library of a wheel in a process of its own; nothing if the wheel has none or it does not open."""
    member = f"{backend.package}/{backend.library}" if backend else ""
    with zipfile.ZipFile(wheel.path) as archive, tempfile.TemporaryDirectory(prefix="load-") as scratch:
        if member not in archive.namelist():
            return None
        path = archive.extract(member, scratch)
        result = subprocess.run(
            [sys.executable, "-I", library.__file__, path],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LOAD_SECONDS,
            env=environment.clean_environ(),
        )
    return ".".join(map(str, json.loads(result.stdout))) if result.returncode == 0 else None


def _key(
    built: Sequence[BuiltWheel],
    programs: Sequence[Path],
    interpreters: Mapping[str, Interpreter | None],
    backend: Backend | None,
) -> str:
    """Return the identity of everything that the evidence depends on."""
    identity = [
        _SCHEMA,
        backend.name if backend else None,
        [(wheel.path.name, wheel.report.sha256) for wheel in built],
        [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in [*programs, smoke.HARNESS]],
        [(tag, found.version, found.prefix) if found else (tag, "", "") for tag, found in interpreters.items()],
    ]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def _raise_failures(pythons: Iterable[PythonProof]) -> None:
    """Raise with every program that failed on any Python.

    Raises:
        ProofError: There is at least one.
    """
    failures = [(proof, result) for proof in pythons for result in proof.failures()]
    if failures:
        lines = [
            f"  {result.program} on Python {proof.interpreter}: {result.detail.strip().splitlines()[-1]}"
            for proof, result in failures
        ]
        raise ProofError(
            f"{len(failures)} smoke programs failed:",
            cause="\n".join(lines),
            remedy="see each in full with: python -m pjrtwheel smoke dist/*.whl",
        )


def _write_atomically(path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as stream:
        stream.write(text)
    Path(stream.name).replace(path)
