# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is left to a person, each with the file to edit."""

from dataclasses import replace

from pjrtwheel.bump.report import decide
from pjrtwheel.release.model import Release, XlaSource

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
