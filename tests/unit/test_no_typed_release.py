# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Tests hold for the next release of JAX as well: what they need of a release comes from its file, or is invented."""

import re

import pytest

from pjrtwheel.release.known import list_releases
from release_under_test import ROOT


@pytest.mark.parametrize("version", list_releases(ROOT))
def test_no_test_names_a_release_of_this_repository(version: str) -> None:
    """Take the fixture `release`, a parametrization over all releases, or an invented version such as 1.2.3."""
    name = re.compile(rf"(?<![\d.]){re.escape(version)}(?!\.?\d)")
    tests = [path for folder in ("unit", "integration", "support") for path in (ROOT / "tests" / folder).rglob("*.py")]
    assert len(tests) > 100
    assert [str(path.relative_to(ROOT)) for path in tests if name.search(path.read_text("utf-8"))] == []
