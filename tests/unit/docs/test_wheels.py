# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From inspections to the page that compares wheels."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.docs import wheels as document
from pjrtwheel.docs.wheels import format_measures, parse_measures
from pjrtwheel.docs.wheels_page import Measure, render_page
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


def test_page_is_what_its_data_give(root: Path) -> None:
    """The page and its data are committed together; nox -s update_docs writes both."""
    page = render_page(document.read_measures(root), tuple(load_backends(root).values()))

    assert (root / document.PAGE).read_text("utf-8") == page


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

    lines = render_page([ROW, newer, ours, foreign], []).splitlines()

    assert "*Files* counts the wheels of one release for `cp312`, `cp314t`;" in lines
    assert "| jaxlib, upstream | `jaxlib` | 2 | 4.0 | 2.0 | 5.0 | 1.5 | 9 (4) |  | 1 | no | no |" in lines
    assert "| jaxlib, ours | `jaxlib` | 1 | 2.0 | 2.0 | 5.0 | 0.0 | 9 (4) |  | 1 | yes | yes |" in lines
    findings = lines.index("| wheel | `sbom` | `symbols` |")
    assert lines[findings + 2 : findings + 4] == ["| `jaxlib` | 1 | 2 |", "| `jaxlib`, ours |  |  |"]
    assert "| `jaxlib` | sm_90 |" in lines


def test_command_measures_wheels_and_writes_the_page(
    root: Path, tmp_path: Path, make_wheel: Callable[..., Path], make_elf: Callable[..., bytes]
) -> None:
    """A second run without wheels writes the same page from what is kept."""
    shutil.copytree(root / "plugins/cpu", tmp_path / "plugins/cpu")
    (tmp_path / "docs").mkdir()
    wheel = make_wheel({"demo/a.so": make_elf()}, name="jaxlib-1.0-cp312-cp312-manylinux_2_27_x86_64.whl")

    assert document.main([str(wheel.parent), "--root", str(tmp_path)]) == 0
    page = (tmp_path / document.PAGE).read_text("utf-8")
    assert document.main(["--root", str(tmp_path)]) == 0

    assert (tmp_path / document.PAGE).read_text("utf-8") == page
    (row,) = document.read_measures(tmp_path)
    assert (row.distribution, row.exports, row.locked, row.findings["symbols"]) == ("jaxlib", 1, False, 1)


def test_command_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a missing wheel nor missing data gives a traceback."""
    statuses = [document.main([*arguments, "--root", str(tmp_path)]) for arguments in ([], [str(tmp_path / "x.whl")])]

    assert statuses == [UsageError.exit_code] * 2
    assert "no such wheel or folder" in capsys.readouterr().err
