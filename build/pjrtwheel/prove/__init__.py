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
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import host_platform
from pjrtwheel.prove import environment, store
from pjrtwheel.prove.interpreters import Interpreter, find_interpreters
from pjrtwheel.prove.levels import Level, PythonProof, highest
from pjrtwheel.prove.loading import read_api
from pjrtwheel.prove.machine import describe_machine
from pjrtwheel.prove.material import Material, gather_material
from pjrtwheel.prove.python import Evidence, fitting, has_bindings, prove_python
from pjrtwheel.prove.record import Proof
from pjrtwheel.prove.tags import fits, platform_of
from pjrtwheel.release import Release
from pjrtwheel.wheel.report import BuiltWheel

__all__ = ["Level", "Proof", "gather_material", "prove", "prove_python"]


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
    platform = platform_of(wheel.report.tag for wheel in built)
    if platform != host_platform().name:
        return _unproven(built, release.pythons(platform), f"wheels are for {platform}")
    if not smoke_tests:
        versions = {wheel.path.name: read_api(wheel.path, backend) for wheel in built}
        return _unproven(built, release.pythons(platform), "smoke tests switched off", versions)
    interpreters = find_interpreters(release.pythons(platform))
    material = gather_material(root, release, backend)
    wheels = [wheel.path for wheel in built]
    houses = [
        environment.wheelhouse(interpreter, material.requirements, matching, cache)
        for tag, interpreter in interpreters.items()
        if interpreter is not None and has_bindings(matching := fitting(wheels, tag))
    ]
    machine = describe_machine(environment.clean_environ(), backend.search_paths if backend else ())
    key = store.evidence_key(built, material, interpreters, houses, machine)
    kept = None if fresh else store.read_proofs(cache / "proofs" / f"{key}.json")
    if kept is not None:
        print("proven before on this machine, with the same bytes and programs", file=sys.stderr, flush=True)
        return kept
    evidence = _prove_pythons(interpreters, wheels, material, cache)
    store.raise_failures((found.python for found in evidence.values()), cache / "proofs" / f"{key}.failed.txt")
    proofs = tuple(_combine(wheel, evidence, material) for wheel in built)
    store.write_proofs(cache / "proofs" / f"{key}.json", proofs)
    return proofs


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


def _combine(wheel: BuiltWheel, evidence: Mapping[str, Evidence], material: Material) -> Proof:
    """Return what all Pythons together showed of one wheel."""
    found = [entry for tag, entry in evidence.items() if fits(wheel.report.tag, tag)]
    is_plugin = material.backend is not None and wheel.report.distribution == material.backend.distribution
    api = next((entry.api for entry in found if entry.api), None) if is_plugin else None
    levels = [entry.python.level() for entry in found]
    if api is not None:
        levels.append(Level.LOAD)
    targets = max((entry.targets for entry in found), key=len, default=()) if is_plugin else ()
    return Proof(wheel.path.name, highest(levels), api, tuple(entry.python for entry in found), targets)


def _unproven(
    built: Sequence[BuiltWheel], tags: Sequence[str], reason: str, api: Mapping[str, str | None] | None = None
) -> tuple[Proof, ...]:
    versions = api or {}
    return tuple(
        Proof(
            wheel.path.name,
            Level.LOAD if versions.get(wheel.path.name) else Level.STATIC,
            versions.get(wheel.path.name),
            tuple(PythonProof(tag, "", (), reason) for tag in tags if fits(wheel.report.tag, tag)),
        )
        for wheel in built
    )
