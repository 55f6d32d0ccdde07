# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is left to a person, each with the file and line to edit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.bump.decisions import (
    Decision,
    decide_absent,
    decide_commits,
    decide_differences,
    decide_failures,
    decide_source,
    read_texts,
)
from pjrtwheel.bump.steps import Step
from pjrtwheel.conformance.comparison import Expected, compare
from pjrtwheel.conformance.run_file import Case, CaseOutcome
from pjrtwheel.errors import BazelError, VerifyError
from pjrtwheel.pin.upstream import UnboundedError
from pjrtwheel.release.checks import describe_doubts
from pjrtwheel.release.model import Release, XlaSource
from pjrtwheel.verify.checkers import judge_platforms

OVERRIDES = "# Decisions.\n"
XLA = '# Sources.\n\n["1.1"]\ncommit = "a"\n\n["1.2"]\ncommit = "c0ffee"\n'
LISTED = '# Cases.\n\n[[difference]]\ncase = "a_test.py::A::test_old"\noutcome = "failed"\nreason = "Never works."\n'


def test_backend_without_a_library_may_be_overridden(after: Release) -> None:
    """At the end of the file; one that lost a platform, or is overridden already, is no question."""
    cause = "the index has no soroban-pjrt 1.2; the newest before it is 1.1"
    assert list(decide_absent(after, ["abacus", "cpu", "soroban"], {"releases/overrides.toml": OVERRIDES})) == [
        Decision(
            "releases/overrides.toml",
            2,
            f"soroban has no library: {cause}. Leave it out, or take another version's",
            '["1.2".soroban] with version = "..." and reason = "..."',
        )
    ]


def test_commit_of_xla(after: Release) -> None:
    """Unknown: at the end. Contradicted: at its table. Known: no question."""
    (unknown,) = decide_source(replace(after, version="1.3"), {"releases/xla.toml": XLA})
    assert (unknown.path, unknown.line) == ("releases/xla.toml", 8)
    source = XlaSource("c0ffee", "ab" * 32, "7.7.1", verified=False, origin="a document")
    assert list(decide_source(replace(after, xla=source), {"releases/xla.toml": XLA})) == []
    doubted = replace(after, xla=replace(source, contradicted_by="another document: decaf"))
    (decision,) = decide_source(doubted, {"releases/xla.toml": XLA})
    assert (decision.line, decision.question) == (
        6,
        "XLA commit c0ffee is contradicted by another document: decaf",
    )


def test_pin_says_what_bump_asks(before: Release, after: Release) -> None:
    """In the same words; an override, which is decided already, is said alone."""
    (commits,) = decide_commits(before, "x", {"x": ""})
    (said,) = describe_doubts(before)
    assert commits.question.startswith(f"{said}. ")
    assert list(describe_doubts(after)) == ["cpu takes version 0.0.48: nobody has made another one"]


def test_inputs_of_different_commits(before: Release, after: Release) -> None:
    """The line of the release file where they are."""
    texts = {"releases/1.1.toml": 'schema = 2\n\n[commits]\njax = "1"\n'}
    (decision,) = decide_commits(before, "releases/1.1.toml", texts)
    assert decision.line == 3
    assert "111111111111 (jax, jaxlib); 222222222222 (soroban-plugin)" in decision.question
    assert list(decide_commits(after, "releases/1.2.toml", {"releases/1.2.toml": ""})) == []


def test_requirement_without_bounds(root: Path) -> None:
    """The backend is found by the extra of upstream's that it follows."""
    error = UnboundedError("jax-cuda13-plugin[with-cuda]", "nvidia-nvvm")
    texts = read_texts(root, "1.2", ["cuda12", "cuda13"])
    (decision,) = decide_failures([Step("pin", error=error)], {}, texts)
    assert decision.path == "plugins/cuda13/backend.toml"
    line = (root / decision.path).read_text("utf-8").splitlines()[decision.line - 1]
    assert line == 'upstream = "jax-cuda13-plugin[with-cuda]"'
    assert decision.edit == 'bounds = { nvidia-nvvm = ">=...,<..." }'


@pytest.mark.parametrize(("backend", "start"), [("rocm7", "external = ["), ("cuda12", "distribution = ")])
def test_library_that_the_wheel_lacks(root: Path, backend: str, start: str) -> None:
    """Found in what verification says, which auditwheel's answer gives; without such a list, it goes to the top."""
    answer = {"external_libs": {"libbeads.so.5": None}, "overall_tag": "manylinux_2_27_x86_64", "sym_tag": "x"}
    problem = next(judge_platforms(answer, [], ["libbeads.so.5"], []))[1]
    error = VerifyError("1 problem in 1 of 2 wheels:", cause=f"  a.whl: {problem}")
    texts = read_texts(root, "1.2", [backend])
    backends = load_backends(root)
    (decision,) = decide_failures([Step(f"build {backend}", error=error)], backends, texts)
    assert decision.path == f"plugins/{backend}/backend.toml"
    assert (root / decision.path).read_text("utf-8").splitlines()[decision.line - 1].startswith(start)
    assert "need libbeads.so.5, which" in decision.question


def test_other_failures_are_no_decision(root: Path) -> None:
    """They are among the steps, with their whole message."""
    steps = [Step("build cuda12", error=BazelError("it broke")), Step("build tpu"), Step("pin", error=None)]
    assert list(decide_failures(steps, load_backends(root), read_texts(root, "1.2", ["cuda12"]))) == []


def test_cases_of_jax_that_differ() -> None:
    """New ones go to the end of the list of the backend, and those that hold no longer are named by their line."""
    names = [f"a_test.py::A::test_{name}" for name in ("old", "new", "same")]
    builtin = {name: Case(name, CaseOutcome.PASSED) for name in names}
    plugin = builtin | {names[1]: Case(names[1], CaseOutcome.FAILED, "wrong")}
    expected = [Expected(names[0], CaseOutcome.FAILED, "Never works.")]
    difference = compare("a_test.py", builtin, plugin, expected)
    texts = {"tests/conformance/cpu.toml": LISTED}
    worse, stale = decide_differences("cpu", [difference], texts)
    assert (worse.line, worse.question) == (7, f"worse than on the built-in client, for no listed reason: {names[1]}")
    assert (stale.line, stale.edit) == (4, "remove this [[difference]]")
