# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is left to a person, each with the file to edit."""

from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.bump.report import decide, decide_failure
from pjrtwheel.errors import BazelError, VerifyError
from pjrtwheel.pin.upstream import UnboundedError
from pjrtwheel.release.model import Release, XlaSource
from pjrtwheel.verify.checkers import judge_platforms

SOURCE = XlaSource("c0ffee", "ab" * 32, "7.7.1", verified=False, origin="a document")


def test_backend_without_a_library_may_be_overridden(after: Release) -> None:
    """One that lost a platform, or is overridden already, is no question."""
    (decision,) = decide(replace(after, xla=SOURCE), ["abacus", "cpu", "soroban"])
    assert decision.path == "releases/overrides.toml"
    assert "the index has no soroban-pjrt 1.2" in decision.question
    assert decision.edit.startswith('["1.2".soroban]')


def test_commits_of_xla_and_jax(before: Release, after: Release) -> None:
    """XLA's unknown, or contradicted; inputs that were built from different commits of JAX."""
    assert [decision.path for decision in decide(after, [])] == ["releases/xla.toml"]
    doubted = replace(after, xla=replace(SOURCE, contradicted_by="another document: decaf"))
    (decision,) = decide(doubted, [])
    assert (decision.path, "decaf" in decision.question) == ("releases/xla.toml", True)
    (commits,) = decide(replace(before, xla=SOURCE), [])
    assert commits.path == "releases/1.1.toml"
    assert "111111111111 (jax, jaxlib); 222222222222 (soroban-plugin)" in commits.question


def test_requirement_without_bounds(root: Path) -> None:
    """The backend is found by the extra of upstream's that it follows."""
    error = UnboundedError("jax-cuda13-plugin[with-cuda]", "nvidia-nvvm")
    (decision,) = decide_failure(error, "pin", load_backends(root))
    assert decision.path == "plugins/cuda13/backend.toml"
    assert 'bounds = { nvidia-nvvm = ">=...,<..." }' in decision.edit


@pytest.mark.parametrize("backend", ["rocm7", "cuda12"])
def test_library_that_the_wheel_lacks(root: Path, backend: str) -> None:
    """Found in what verification says, which auditwheel's answer gives; nothing else that fails is a question."""
    answer = {"external_libs": {"libbeads.so.5": None}, "overall_tag": "manylinux_2_27_x86_64", "sym_tag": "x"}
    problem = next(judge_platforms(answer, [], ["libbeads.so.5"], []))[1]
    error = VerifyError("1 problem in 1 of 2 wheels:", cause=f"  a.whl: {problem}")
    (decision,) = decide_failure(error, backend, load_backends(root))
    assert decision.path == f"plugins/{backend}/backend.toml"
    assert "libbeads.so.5" in decision.question
    assert list(decide_failure(BazelError("broken"), backend, load_backends(root))) == []
    assert list(decide_failure(error, "jaxlib", load_backends(root))) == []
