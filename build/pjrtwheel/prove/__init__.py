# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove finished wheels: run real JAX on them in clean environments, and record what was shown.

Evidence is kept in the cache under a key over everything it depends on (the wheels' bytes, those installed
beside them, the programs, the interpreters), so that proving the same bytes again on the same machine costs nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import host_platform
from pjrtwheel.prove import environment, smoke, store
from pjrtwheel.prove.interpreters import Interpreter, find_interpreters
from pjrtwheel.prove.levels import Level, PythonProof, highest
from pjrtwheel.prove.loading import read_api
from pjrtwheel.prove.record import Proof
from pjrtwheel.prove.tags import fits, platform_of, wheel_tag
from pjrtwheel.release import Release
from pjrtwheel.wheel.report import BuiltWheel

__all__ = ["Level", "Proof", "prove", "prove_python"]


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
    programs = smoke.find_programs(root)
    requirements = [f"jax=={release.version}", *environment.requirement_group(root, "smoke")]
    wheels = [wheel.path for wheel in built]
    houses = [
        environment.wheelhouse(interpreter, requirements, matching, cache)
        for tag, interpreter in interpreters.items()
        if interpreter is not None and _has_bindings(matching := _fitting(wheels, tag))
    ]
    key = store.evidence_key(built, programs, interpreters, backend, requirements, houses)
    kept = None if fresh else store.read_proofs(cache / "proofs" / f"{key}.json")
    if kept is not None:
        print("proven before on this machine, with the same bytes and programs", file=sys.stderr, flush=True)
        return kept
    pythons = {
        tag: prove_python(tag, interpreter, wheels, programs, requirements, backend=backend, cache=cache)
        for tag, interpreter in interpreters.items()
    }
    store.raise_failures(pythons.values(), cache / "proofs" / f"{key}.failed.txt")
    proofs = tuple(_combine(wheel, read_api(wheel.path, backend), pythons) for wheel in built)
    store.write_proofs(cache / "proofs" / f"{key}.json", proofs)
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
    wheels = _fitting(wheels, tag)
    if not _has_bindings(wheels):
        return PythonProof(tag, interpreter.version, (), "no jaxlib wheel of this set")
    print(f"proving on Python {interpreter.version}: {len(programs)} programs", file=sys.stderr, flush=True)
    house = environment.wheelhouse(interpreter, requirements, wheels, cache)
    with tempfile.TemporaryDirectory(prefix="prove-") as scratch:
        python = environment.create_venv(interpreter, Path(scratch) / "venv")
        ours = [environment.requirement_of(wheel) for wheel in wheels]
        environment.install(python, [*requirements, *ours], {house, *(wheel.parent for wheel in wheels)})
        return PythonProof(tag, interpreter.version, smoke.run_programs(python, programs, backend))


def _fitting(wheels: Sequence[Path], tag: str) -> list[Path]:
    return [wheel for wheel in wheels if fits(wheel_tag(wheel), tag)]


def _has_bindings(wheels: Sequence[Path]) -> bool:
    return any(wheel.name.startswith("jaxlib-") for wheel in wheels)


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
