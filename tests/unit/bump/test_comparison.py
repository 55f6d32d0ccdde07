# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What changed between two releases."""

from __future__ import annotations

from jaxlib_select.facts import Backend, Facts
from pjrtwheel.bump.comparison import (
    FinishedPlugin,
    Row,
    SizeRow,
    compare_code,
    compare_commits,
    compare_inputs,
    compare_platforms,
    compare_plugins,
    compare_pythons,
    compare_requirements,
    compare_sizes,
    compare_versions,
    newly_absent,
    newly_present,
)
from pjrtwheel.release.model import Release

X86, ARM = "linux_x86_64", "linux_aarch64"


def changed(rows: tuple[Row, ...]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return what is gone and what is new, by name, of the rows that differ."""
    return {row.name: (row.removed, row.added) for row in rows if row.is_changed}


def test_pythons_and_platforms_that_came_and_went(before: Release, after: Release) -> None:
    """By platform and by backend; whole platforms too."""
    assert changed(compare_pythons(before, after)) == {
        "jaxlib linux_aarch64": (("cp315",), ()),
        "jaxlib linux_x86_64": ((), ("cp316",)),
    }
    assert compare_platforms(before, after, ["abacus", "cpu", "soroban"]) == (
        Row("abacus", (X86, ARM), (X86,)),
        Row("cpu", (X86,), (X86,)),
        Row("soroban", (X86,), ()),
    )


def test_absent_and_present_are_those_that_changed(before: Release, after: Release) -> None:
    """What both releases lack is no news."""
    assert newly_absent(before, after) == {
        "the index has abacus-pjrt 1.2, but not for linux_aarch64": ("plugin.abacus.linux_aarch64",),
        "the index has no soroban-pjrt 1.2; the newest before it is 1.1": ("plugin.soroban.linux_x86_64",),
    }
    assert newly_present(before, after) == ("bindings.cp316.linux_x86_64",)
    assert (newly_absent(after, after), newly_present(after, after)) == ({}, ())


def test_versions_that_do_not_follow_jax(before: Release, after: Release) -> None:
    """A project that has JAX's version in both is left out; one that only one release has is judged by that one."""
    assert compare_versions(before, after) == (
        Row("libcpu", ("0.0.48",), ("0.0.48",)),
        Row("ziglang", ("9",), ("9",)),
    )


def test_requirements_of_backends_that_both_have(before: Release, after: Release) -> None:
    """A backend that is gone says nothing about floors."""
    assert compare_requirements(before, after) == (
        Row("abacus[with-beads] beads", (">=5.1,<6",), (">=5.4,<6",)),
        Row("abacus[with-beads] rods", (">=1",), (">=1",)),
        Row("abacus[with-beads] wood", (), (">=2",)),
    )


def test_commits_are_shortened(before: Release, after: Release) -> None:
    """Each project by itself."""
    assert compare_commits(before, after) == (
        Row("jax", ("1" * 12,), ("3" * 12,)),
        Row("jaxlib", ("1" * 12,), ("3" * 12,)),
        Row("soroban-plugin", ("2" * 12,), ()),
    )


def test_sizes_are_means_over_the_pythons(before: Release, after: Release) -> None:
    """So that another Python does not look like a larger wheel; tools of the build are not in it."""
    assert compare_inputs(before, after) == (
        SizeRow("abacus-pjrt linux_aarch64", 10_000_000, 0),
        SizeRow("abacus-pjrt linux_x86_64", 10_000_000, 10_500_000),
        SizeRow("abacus-plugin linux_x86_64", 1_000_000, 1_000_000),
        SizeRow("jaxlib linux_aarch64", 70_000_000, 0),
        SizeRow("jaxlib linux_x86_64", 80_000_000, 62_000_000),
        SizeRow("libcpu linux_x86_64", 5_000_000, 5_000_000),
        SizeRow("soroban-pjrt linux_x86_64", 30_000_000, 0),
    )
    assert compare_sizes({"a": [1, 2]}, {"b": [3]}) == (SizeRow("a", 1, 0), SizeRow("b", 0, 3))


def test_gpu_code_of_the_facts() -> None:
    """By backend and platform; the order of a list is no change."""

    def facts(release: str, code: dict[str, tuple[str, ...]]) -> Facts:
        return Facts(release, (Backend("abacus", "jaxlib-abacus", release, "abacus", {}, {}, code),))

    rows = compare_code(
        facts("1", {X86: ("sm_50", "sm_90"), ARM: ("sm_90",)}), facts("2", {X86: ("sm_90", "sm_50"), ARM: ("sm_120",)})
    )
    assert changed(rows) == {f"abacus {ARM}": (("sm_90",), ("sm_120",))}
    assert [row.name for row in rows] == [f"abacus {ARM}", f"abacus {X86}"]


def test_plugins_are_compared_where_both_releases_were_built() -> None:
    """A backend that was built of one release only would look as if all its symbols were new."""
    old = [FinishedPlugin("jaxlib-abacus", "0.115", ("GetPjrtApi",)), FinishedPlugin("jaxlib-cpu", "0.115", ())]
    new = [FinishedPlugin("jaxlib-abacus", "0.116", ("GetPjrtApi", "Count")), FinishedPlugin("jaxlib-tpu", "", ())]
    assert compare_plugins(old, new, lambda plugin: (plugin.pjrt_api,)) == (
        Row("jaxlib-abacus", ("0.115",), ("0.116",)),
    )
    assert compare_plugins(old, new, lambda plugin: plugin.exports) == (
        Row("jaxlib-abacus", ("GetPjrtApi",), ("GetPjrtApi", "Count")),
    )
