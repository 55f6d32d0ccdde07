# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove finished wheels: run real JAX on them in clean environments, and record what was shown.

Evidence is kept in the cache under a key over everything it depends on (the wheels' bytes, those installed beside
them, the programs, the interpreters, the machine's devices and libraries), so that proving the same bytes again on the
same machine costs nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment import venv as environment
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.errors import ProofError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import host_platform
from pjrtwheel.prove import store
from pjrtwheel.prove.levels import Level, PythonProof, highest
from pjrtwheel.prove.loading import read_api
from pjrtwheel.prove.machine import describe_machine
from pjrtwheel.prove.material import Material, gather_material
from pjrtwheel.prove.origin import Origin, find_origin
from pjrtwheel.prove.python import Evidence, can_prove, fitting, prove_python
from pjrtwheel.prove.record import Proof, explain_level
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.report import BuiltWheel

__all__ = ["Level", "Proof", "combine", "explain_level", "gather_material", "prove", "prove_python"]


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
    platform = platform_of(wheel.path for wheel in built)
    tags = release.pythons(platform)
    origin = find_origin(root, os.environ)  # at once: while programs run, the repository may move on
    if platform != host_platform().name:
        return _unproven(built, tags, f"wheels are for {platform}", backend, origin)
    if not smoke_tests:
        versions = {wheel.path.name: read_api(wheel.path, backend) for wheel in built}
        return _unproven(built, tags, "smoke tests switched off", backend, origin, versions)
    return _prove_here(built, gather_material(root, release, backend), tags, origin, cache, fresh=fresh)


def platform_of(wheels: Iterable[Path]) -> str:
    """Return the platform that the wheels of a set are for.

    Raises:
        ProofError: They are for several, or for none we know.
    """
    found = {parse_name(wheel.name).platform for wheel in wheels}
    if len(found) != 1 or None in found:
        names = sorted(platform.name for platform in found if platform)
        raise ProofError(f"wheels of one set must be for one platform, not {names or 'none'}")
    (platform,) = filter(None, found)
    return platform.name


def _prove_here(
    built: Sequence[BuiltWheel], material: Material, tags: Sequence[str], origin: Origin, cache: Path, *, fresh: bool
) -> tuple[Proof, ...]:
    """Run programs on every Python of this machine, unless evidence of an earlier run is as good."""
    interpreters = find_interpreters(tags)
    path = _evidence_path(built, material, interpreters, cache)
    kept = None if fresh else store.read_proofs(path)
    if kept is not None:
        print("proven before on this machine, with the same bytes and programs", file=sys.stderr, flush=True)
        return kept
    evidence = _prove_pythons(interpreters, [wheel.path for wheel in built], material, cache)
    store.raise_failures((found.python for found in evidence.values()), path.with_suffix(".failed.txt"))
    proofs = combine([wheel.path for wheel in built], evidence, material, origin)
    store.write_proofs(path, proofs)
    return proofs


def _evidence_path(
    built: Sequence[BuiltWheel], material: Material, interpreters: Mapping[str, Interpreter | None], cache: Path
) -> Path:
    """Return where evidence is kept, by all that it depends on; that is brought here first."""
    wheels, backend = [wheel.path for wheel in built], material.backend
    houses = [
        environment.wheelhouse(interpreter, material.requirements, fitting(wheels, tag), cache)
        for tag, interpreter in interpreters.items()
        if interpreter is not None and can_prove(wheels, tag)
    ]
    paths, steering = (backend.search_paths, backend.steering) if backend else ((), ())
    machine = describe_machine(environment.clean_environ(), paths, steering)
    return cache / "proofs" / f"{store.evidence_key(built, material, interpreters, houses, machine)}.json"


def _prove_pythons(
    interpreters: Mapping[str, Interpreter | None], wheels: Sequence[Path], material: Material, cache: Path
) -> dict[str, Evidence]:
    """Prove on every Python; the first one that can compiles for every target."""
    evidence: dict[str, Evidence] = {}
    for tag, interpreter in interpreters.items():
        evidence[tag] = prove_python(
            tag,
            interpreter,
            wheels,
            material,
            cache=cache,
            every_target=not any(found.targets for found in evidence.values()),
        )
    return evidence


def combine(
    wheels: Sequence[Path], evidence: Mapping[str, Evidence], material: Material, origin: Origin
) -> tuple[Proof, ...]:
    """Return what all Pythons together showed of each wheel of a set.

    Args:
        wheels: The wheels.
        evidence: Tag of the Python → what it showed.
        material: What they were proven with.
        origin: From which revision, and when; read before anything ran.
    """
    return tuple(_combine(wheel, evidence, material, origin) for wheel in wheels)


def _combine(wheel: Path, evidence: Mapping[str, Evidence], material: Material, origin: Origin) -> Proof:
    """Return what all Pythons together showed of one wheel."""
    found = [entry for tag, entry in evidence.items() if parse_name(wheel.name).fits(tag)]
    backend = material.backend
    is_plugin = backend is not None and parse_name(wheel.name).distribution == backend.distribution
    api = next((entry.api for entry in found if entry.api), None) if is_plugin else None
    levels = [entry.python.level() for entry in found]
    if api is not None:
        levels.append(Level.LOAD)
    targets = max((entry.targets for entry in found), key=len, default=()) if is_plugin else ()
    pythons = tuple(entry.python for entry in found)
    return Proof(wheel.name, highest(levels), api, pythons, origin, targets, backend.name if backend else None)


def _unproven(
    built: Sequence[BuiltWheel],
    tags: Sequence[str],
    reason: str,
    backend: Backend | None,
    origin: Origin,
    api: Mapping[str, str | None] | None = None,
) -> tuple[Proof, ...]:
    """Return what is known of wheels for which no program ran."""
    versions = api or {}
    return tuple(
        Proof(
            wheel.path.name,
            Level.LOAD if versions.get(wheel.path.name) else Level.STATIC,
            versions.get(wheel.path.name),
            tuple(PythonProof(tag, "", (), reason) for tag in tags if parse_name(wheel.path.name).fits(tag)),
            origin,
            backend=backend.name if backend else None,
        )
        for wheel in built
    )
