# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""All wheels of a set carry one lock."""

from __future__ import annotations

from pjrtwheel.verify.locks import check_lock, check_locks, find_lock


def test_the_lock_lies_in_the_import_package() -> None:
    """A file of that name deeper down, as in a vendored package, is not the lock."""
    texts = {"a/b/release_lock.json": "no", "jaxlib/release_lock.json": "yes"}
    assert find_lock(texts) == ("jaxlib/release_lock.json", "yes")
    assert find_lock({"a/b/release_lock.json": "no"}) is None


def test_equal_locks_pass() -> None:
    """Any number of wheels with the same document have no problem."""
    assert list(check_locks({"a.whl": "x", "b.whl": "x"})) == []


def test_missing_and_differing_locks_are_named() -> None:
    """Each wheel out of step is named once."""
    assert list(check_lock({"b/release_lock.json": "x"})) == []
    assert list(check_lock({})) == [("", "holds no release_lock.json")]
    assert list(check_locks({"b.whl": "x", "c.whl": "y"})) == [("c.whl", "carries another lock than b.whl")]
