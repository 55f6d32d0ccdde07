# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""For which Pythons a bundle is made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pjrtwheel.cli.bundle import _find_pythons
from pjrtwheel.environment.interpreters import probe
from pjrtwheel.errors import UsageError

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


def test_without_a_name_tools_are_for_this_one_and_proofs_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a release's Pythons those that are installed."""
    own = probe(Path(sys.executable))
    asked: list[str] = []

    def find(tags: dict[str, None]) -> dict[str, object]:
        asked.extend(tags)
        return {"cp312": None, "cp399": own}

    monkeypatch.setattr("pjrtwheel.cli.bundle.find_interpreters", find)
    assert _find_pythons([], ["cp312", "cp399", "cp312"]) == ((own,), (own,))
    assert asked == ["cp312", "cp399"]


def test_named_one_is_for_both() -> None:
    """Whatever the releases have."""
    tools, here = _find_pythons([HERE], ["cp312"])
    assert [entry.tag for entry in tools] == [entry.tag for entry in here] == [f"cp{HERE.replace('.', '')}"]


def test_one_that_is_not_here_is_named() -> None:
    """Its environments cannot be resolved."""
    with pytest.raises(UsageError, match=r"no Python 3\.99 on this machine"):
        _find_pythons([HERE, "3.99"], [])
    with pytest.raises(UsageError, match="no version of Python: 'python3'"):
        _find_pythons(["python3"], [])


def test_one_that_is_too_old_for_the_tools_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If there is no other."""
    monkeypatch.setattr("pjrtwheel.cli.bundle._OLDEST_TOOLS", 99)
    with pytest.raises(UsageError, match=f"no tools run on Python {HERE}"):
        _find_pythons([HERE], [])
