# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels that grew are compared with the release before, and sizes are written down by a command."""

from pathlib import Path

import pytest

from pjrtwheel.cli import main
from pjrtwheel.errors import PinError
from pjrtwheel.record.proofs import Level
from pjrtwheel.release_check.policy import (
    SIZES_FILE,
    Demand,
    Note,
    Policy,
    Size,
    check_growth,
    format_sizes,
    load_sizes,
    measure,
)
from release_entries import entry_of
from tagged_repository import ALONE, BINDINGS, PLUGIN, TAG, make_tagged_repository

LINUX = "linux_x86_64"
DEMAND = Demand(Level.DEVICE, Level.DEVICE, Level.LOAD, Level.STATIC)
POLICY = Policy(1, 2, 15, DEMAND)
OLDER, OLD, OTHER = (
    Size("v1.9", "jaxlib", LINUX, 500),
    Size("v1.10", "jaxlib", LINUX, 1000),
    Size("v1.10", "jaxlib", "linux_aarch64", 1),
)
NEW = "v1.11+split.1"


@pytest.mark.parametrize(
    ("size", "baselines", "grown"),
    [
        (1020, [OLD, OLDER, OTHER], False),
        (1021, [OLDER, OLD, OTHER], True),
        (1021, [OTHER], False),
        (1021, [OLD, Size(NEW, "jaxlib", LINUX, 1), Size("v1.12", "jaxlib", LINUX, 1)], True),
        (900, [OLD], False),
        (515, [OLDER], False),
    ],
    ids=["within", "above", "first of its kind", "its own and later ones", "smaller", "by few bytes"],
)
def test_growth_is_measured_from_the_release_before(size: int, baselines: list[Size], *, grown: bool) -> None:
    """The newest one before it in which there is such a wheel."""
    found = list(check_growth([Size(NEW, "jaxlib", LINUX, size)], baselines, POLICY))
    assert ["1021 bytes, 2.1 % more than in v1.10" in text for text in found] == [True] * grown


@pytest.mark.parametrize(
    ("note", "excused"),
    [
        (Note(NEW, "jaxlib", "a reason", "2026-11-22"), True),
        (Note(NEW, "jaxlib", "a reason", "2026-11-22", ("linux_aarch64",)), False),
        (Note("v1.10", "jaxlib", "a reason", "2026-11-22"), False),
    ],
    ids=["all platforms", "another platform", "another release"],
)
def test_a_note_excuses_one_release(note: Note, *, excused: bool) -> None:
    """The next one is compared with the larger wheel."""
    found = list(check_growth([Size(NEW, "jaxlib", LINUX, 2000)], [OLD], Policy(1, 2, 15, DEMAND, notes=(note,))))
    assert (not found) is excused


def test_the_largest_of_several_pythons_counts() -> None:
    """What holds no library is left out."""
    entries = [
        entry_of("jaxlib-1-cp312-cp312-manylinux_2_27_x86_64.whl", size=5),
        entry_of("jaxlib-1-cp313-cp313-manylinux_2_27_x86_64.whl", size=7),
        entry_of("jaxlib-1-cp313-cp313-macosx_11_0_arm64.whl", size=3),
        entry_of("jaxlib_auto-1-py3-none-any.whl", size=9),
        entry_of("jaxlib_auto-1-py3-none-manylinux_2_27_x86_64-a.whl", size=9),
    ]
    assert measure("v1", entries) == [Size("v1", "jaxlib", LINUX, 7), Size("v1", "jaxlib", "macos_arm64", 3)]


def test_sizes_are_written_in_the_order_of_releases(tmp_path: Path) -> None:
    """And read back."""
    (tmp_path / "releases").mkdir()
    assert load_sizes(tmp_path) == ()
    text = format_sizes([OLD, OTHER, OLDER])
    (tmp_path / SIZES_FILE).write_text(text, "utf-8")
    assert load_sizes(tmp_path) == (OLDER, OTHER, OLD)
    (tmp_path / SIZES_FILE).write_text(text.replace("size = 500", "size = 0"), "utf-8")
    with pytest.raises(PinError, match=r"size\[0\]\.size"):
        load_sizes(tmp_path)


def test_the_command_replaces_one_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what the folder has of it; others stay as they are."""
    small = make_tagged_repository(tmp_path)
    small.write(SIZES_FILE, format_sizes([OLD, Size(TAG, "jaxlib", LINUX, 1)]))
    small.add_wheel("jaxlib-1.1-cp312-cp312-manylinux_2_27_x86_64.whl", provider="prebuilt")
    command = ["sizes", "--tag", TAG, "--root", str(small.root), "--dist", str(small.dist)]
    assert main(command) == 0
    entries = small.entries()
    expected = [
        Size(TAG, "jaxlib", LINUX, entries[BINDINGS].size),
        Size(TAG, "jaxlib", "macos_arm64", entries[ALONE].size),
        Size(TAG, "jaxlib-abacus", LINUX, entries[PLUGIN].size),
    ]
    assert set(load_sizes(small.root)) == {OLD, *expected}
    assert capsys.readouterr().out == f"3 sizes of {TAG} in {SIZES_FILE}\n"
    before = load_sizes(small.root)
    assert main([*command[:2], "v9.9", *command[3:]]) == 2
    assert main([*command[:2], "select-v0.1.0", *command[3:]]) == 2
    assert load_sizes(small.root) == before


def test_the_sizes_of_this_repository_can_be_read(root: Path) -> None:
    """They are generated."""
    sizes = load_sizes(root)
    assert sizes
    assert (root / SIZES_FILE).read_text("utf-8") == format_sizes(sizes)
