# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From wheels to the sums that compare them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.docs.__main__ import main
from pjrtwheel.errors import UsageError
from pjrtwheel.products.measures import DATA, pair_up, read_measures, write_measures


def test_upstream_is_compared_with_ours(root: Path) -> None:
    """Files of all Pythons count for the release, those of one Python for an environment."""
    tag = "cp312-cp312-manylinux_2_27_x86_64"
    row = replace(read_measures(root)[0], distribution="jaxlib", tag=tag, size=2, installed_size=5, locked=False)
    newer = replace(row, tag=tag.replace("cp312", "cp314"))
    foreign = replace(row, tag=tag.replace("x86_64", "aarch64"))
    (pair,) = pair_up([row, newer, foreign, replace(row, locked=True, size=1)], [])
    assert (pair.name, pair.upstream, len(pair.ours)) == ("jaxlib", (row, newer), 1)
    assert pair.sizes == {"download": (2, 1), "installed": (5, 5), "release": (4, 1)}
    assert replace(pair, needs_upstream=True).sizes["release"] == (4, 5)
    assert replace(pair, upstream=(), needs_upstream=True).sizes["release"] == (None, 1)


def test_wheels_are_measured(tmp_path: Path, make_wheel: Callable[..., Path]) -> None:
    """Of a folder, or one by one; the numbers are kept."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/conf.py").touch()
    wheel = make_wheel({"demo/a.txt": b"abc"}, name="jaxlib-1.0-cp312-cp312-manylinux_2_27_x86_64.whl")
    assert main(["measure", str(wheel.parent), "--root", str(tmp_path)]) == 0
    (row,) = read_measures(tmp_path)
    assert (row.distribution, row.size, row.locked) == ("jaxlib", wheel.stat().st_size, False)
    assert row.installed_size > len(b"abc")


def test_missing_wheels(tmp_path: Path) -> None:
    """Neither a missing wheel, nor a folder without any, nor missing data gives a traceback."""
    for path in (tmp_path / "x.whl", tmp_path):
        with pytest.raises(UsageError):
            write_measures(tmp_path, [path])
    with pytest.raises(UsageError, match=DATA):
        read_measures(tmp_path)
