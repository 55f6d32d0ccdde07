# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From inspections to the sums that compare wheels."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.docs import wheels as document
from pjrtwheel.docs.__main__ import main
from pjrtwheel.docs.measures import Measure, Pair, Total, pair_up
from pjrtwheel.docs.wheels import format_measures, parse_measures
from pjrtwheel.errors import UsageError
from pjrtwheel.verify.findings import CODES

ROW = Measure(
    wheel="jaxlib-1-cp312-cp312-manylinux_2_27_x86_64.whl",
    distribution="jaxlib",
    tag="cp312-cp312-manylinux_2_27_x86_64",
    size=2_000_000,
    installed_size=5_000_000,
    libraries=2,
    rpath_elements=9,
    rpath_useless=4,
    exports=None,
    unneeded_bytes=1_500_000,
    license_files=1,
    sboms=0,
    locked=False,
    gpu_code=("sm_90",),
    findings={"sbom": 1, "symbols": 2},
)


def test_every_code_of_the_data_has_a_meaning(root: Path) -> None:
    """A code that nobody explains is of no use."""
    assert {code for row in document.read_measures(root) for code in row.findings} <= set(CODES)


def test_measures_survive_their_file() -> None:
    """What is read is what was written, in order of file name."""
    other = replace(ROW, wheel="a-1-py3-none-any.whl", exports=3)

    assert parse_measures(format_measures([ROW, other])) == (other, ROW)


@pytest.mark.parametrize(
    "text", ["x", "[]", "{}", '{"schema": 1}', '{"schema": 1, "wheels": [{}]}', '{"schema": 0, "wheels": []}']
)
def test_malformed_measures_are_refused(text: str) -> None:
    """Someone may have edited them by hand."""
    with pytest.raises(UsageError, match=r"docs/wheels\.json"):
        parse_measures(text)


def test_upstream_is_compared_with_ours() -> None:
    """Files of all Pythons count for the release, those of one Python for an environment."""
    ours = replace(ROW, wheel="jaxlib-1-1-cp312-cp312-x.whl", locked=True, sboms=1, unneeded_bytes=0, findings={})
    newer = replace(ROW, wheel="jaxlib-1-cp314-cp314t-x.whl", tag="cp314-cp314t-manylinux_2_27_x86_64")
    foreign = replace(ROW, wheel="jaxlib-1-cp312-cp312-y.whl", tag="cp312-cp312-manylinux_2_27_aarch64")

    theirs = Total(("jaxlib",), 2, 4_000_000, 2_000_000, 5_000_000, 1_500_000, 9, 4, None, 1, sboms=False, locked=False)
    mine = replace(theirs, wheels=1, release=2_000_000, unneeded=0, sboms=True, locked=True)
    assert list(pair_up([ROW, newer, ours, foreign], [])) == [Pair("jaxlib", theirs, mine)]


def test_command_measures_wheels(
    root: Path, tmp_path: Path, make_wheel: Callable[..., Path], make_elf: Callable[..., bytes]
) -> None:
    """Of a folder, or one by one; the numbers are kept."""
    shutil.copytree(root / "plugins/cpu", tmp_path / "plugins/cpu")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/conf.py").touch()
    wheel = make_wheel({"demo/a.so": make_elf()}, name="jaxlib-1.0-cp312-cp312-manylinux_2_27_x86_64.whl")

    assert main(["measure", str(wheel.parent), "--root", str(tmp_path)]) == 0
    (row,) = document.read_measures(tmp_path)
    assert (row.distribution, row.exports, row.locked, row.findings["symbols"]) == ("jaxlib", 1, False, 1)


def test_missing_wheels(tmp_path: Path) -> None:
    """Neither a missing wheel, nor a folder without any, nor missing data gives a traceback."""
    for path in (tmp_path / "x.whl", tmp_path):
        with pytest.raises(UsageError, match=str(path)):
            document.write_measures(tmp_path, [path])
    with pytest.raises(UsageError, match=document.DATA):
        document.read_measures(tmp_path)
