# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The installed wheel compiles for chips that are not here; one or two chips, the build of a backend shows all."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, Failure, find_backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_environment
from pjrtwheel.fetch import cache_root
from pjrtwheel.prove.aot import compile_for_target, summarize_target
from pjrtwheel.prove.inputs import Target, find_programs, load_inputs, load_targets
from pjrtwheel.record.proofs import Outcome
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name

pytestmark = pytest.mark.integration

CODE = {"h100": ("sm_90a",)}


@pytest.fixture(scope="module")
def backend(root: Path) -> Backend:
    """Return the backend with the smallest wheel among those that compile for targets of NVIDIA's."""
    return find_backend(root, "cuda13")


def target_of(root: Path, backend: Backend, name: str) -> Target:
    """Return one of the backend's targets."""
    return next(target for target in load_targets(root, backend) if target.name == name)


@pytest.fixture(scope="module")
def python(
    root: Path,
    release: Release,
    interpreter: Interpreter,
    backend: Backend,
    backend_wheels: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Return the Python of an environment with the backend's wheel and what compiling needs."""
    dist = backend_wheels(backend.name)
    wheels = [wheel for wheel in dist.glob("*.whl") if parse_name(wheel.name).fits(interpreter.tag)]
    requirements = load_inputs(root, release, backend).requirements
    target = tmp_path_factory.mktemp("aot") / "venv"
    return create_environment(interpreter, requirements, wheels, target=target, cache=cache_root(os.environ))


def test_a_wheel_compiles_for_a_chip_that_is_not_here(python: Path, backend: Backend, root: Path) -> None:
    """Every program gives code for that chip and no other, within a minute; kernels are called where JAX has some."""
    proof = compile_for_target(python, target_of(root, backend, "h100"), find_programs(root, "aot"), backend)
    assert proof.failures() == ()
    assert (proof.code, sum(entry.passed for entry in proof.compilations)) == (CODE["h100"], 12)
    calls = {name for entry in proof.compilations for name in entry.calls}
    assert {"cusolver_syevd_ffi", "__gpu$xla.gpu.triton"} <= calls
    devices = {entry.program: entry.devices for entry in proof.compilations}
    assert (devices["collective"], devices["sort"]) == (8, 1)
    assert proof.seconds < 60


def test_what_cannot_be_compiled_fails_as_expected(python: Path, backend: Backend, root: Path) -> None:
    """Also where a program takes the whole process with it: those after it run in another one."""
    proof = compile_for_target(python, target_of(root, backend, "v100"), find_programs(root, "aot"), backend)
    assert (proof.failures(), proof.compiled) == ((), False)
    assert [entry.outcome for entry in proof.compilations] == [Outcome.EXPECTED] * 12
    assert summarize_target(proof).outcome is Outcome.EXPECTED


def test_surprises_are_failures(python: Path, backend: Backend, root: Path) -> None:
    """Code for another chip than the file says, and success where failure is expected, are both found."""
    claims = replace(
        target_of(root, backend, "a100"), code=CODE["h100"], fails={"sort": Failure("never", "it is said not to")}
    )
    programs = [path for path in find_programs(root, "aot") if path.stem in {"sort", "conv"}]
    proof = compile_for_target(python, claims, programs, backend)
    assert {failed.program: failed.detail for failed in proof.failures()} == {
        "conv": "code for sm_80, where sm_90a is expected",
        "sort": "a100.toml: it does not fail, though it is declared to: it is said not to",
    }


def test_a_misspelt_chip_is_said(python: Path, backend: Backend, root: Path, request: pytest.FixtureRequest) -> None:
    """A description that the plugin does not take fails the target, with the plugin's words."""
    (site,) = python.parent.parent.glob("lib/python*/site-packages")
    odd = site / backend.package / "targets/odd.toml"
    odd.write_text('platform = "cuda"\noptions = { target_config = "colour: 1" }\n[topologies.single]\n', "utf-8")
    request.addfinalizer(odd.unlink)
    wrong = replace(target_of(root, backend, "a100"), name="odd")
    (failed,) = compile_for_target(python, wrong, find_programs(root, "aot"), backend).failures()
    assert "Failed to parse GpuTargetConfigProto" in failed.detail


def test_the_plugin_of_the_wheel_must_be_the_one_that_compiles(python: Path, backend: Backend, root: Path) -> None:
    """Another library in its place is noticed at the end."""
    other = replace(backend, library="another.so")
    programs = [path for path in find_programs(root, "aot") if path.stem == "sort"]
    (failed,) = compile_for_target(python, target_of(root, backend, "a100"), programs, other).failures()
    assert "another.so is not loaded" in failed.detail
