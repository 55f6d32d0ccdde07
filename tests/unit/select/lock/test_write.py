# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files: how packages and their groups are put together and written."""

import datetime as dt
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import default_environment
from packaging.pylock import Pylock, PylockSelectError

from jaxlib_select.apply.formats import write_toml
from jaxlib_select.apply.pylock import Group, drop_superseded, merge_packages, packages_of
from lock_files import GROUPS, package, wheel

ENVIRONMENT: Any = {
    **default_environment(),
    "sys_platform": "linux",
    "platform_machine": "x86_64",
    "python_version": "3.12",
    "python_full_version": "3.12.1",
}


def test_packages_are_marked_with_their_groups() -> None:
    """What all backends need has no marker; one name may appear twice with markers that exclude each other."""
    assert [(entry["name"], entry["version"], entry.get("marker")) for entry in merge_packages(GROUPS)] == [
        ("cudnn", "9.10", "'cuda12' in dependency_groups"),
        ("cudnn", "9.28", "'cuda13' in dependency_groups"),
        ("jax", "1.0", None),
        ("jaxlib-cuda-12", "1.0", "'cuda12' in dependency_groups"),
        ("jaxlib-cuda-13", "1.0", "'cuda13' in dependency_groups"),
    ]


def test_a_package_of_several_groups_keeps_its_own_marker() -> None:
    """Both conditions hold together."""
    groups = [
        Group(name, name, (), (package("a", marker="sys_platform == 'linux'"),) if name != "c" else ())
        for name in "abc"
    ]
    assert [entry["marker"] for entry in merge_packages(groups)] == [
        "(sys_platform == 'linux') and ('a' in dependency_groups or 'b' in dependency_groups)"
    ]


def test_the_lock_is_one_for_the_standard(make_lock: Callable[..., Path]) -> None:
    """`packaging` takes it for a valid PEP 751 file, with the decision as its default."""
    document = tomllib.loads(make_lock().read_text())
    lock = Pylock.from_dict(document)
    lock.validate()
    assert (lock.dependency_groups, lock.default_groups) == (["cuda13", "cuda12"], ["cuda13"])
    for groups, wanted in ((None, ("9.28", "jaxlib-cuda-13")), (["cuda12"], ("9.10", "jaxlib-cuda-12"))):
        chosen = {
            entry.name: str(entry.version)
            for entry, _ in lock.select(environment=ENVIRONMENT, dependency_groups=groups)
        }
        assert chosen == {"cudnn": wanted[0], "jax": "1.0", wanted[1]: "1.0"}
    assert [entry["name"] for entry in packages_of(document, "cuda12")] == ["cudnn", "jax", "jaxlib-cuda-12"]


@pytest.mark.parametrize("other", [{"platform_machine": "aarch64"}, {"python_full_version": "3.13.0"}])
def test_installers_refuse_the_lock_elsewhere(make_lock: Callable[..., Path], other: dict[str, str]) -> None:
    """Another platform and another Python need other wheels, and perhaps other packages."""
    lock = Pylock.from_dict(tomllib.loads(make_lock().read_text()))
    elsewhere: Any = {**ENVIRONMENT, **other}
    with pytest.raises(PylockSelectError):
        list(lock.select(environment=elsewhere))


def test_a_wheel_with_a_higher_build_tag_outbids() -> None:
    """Our jaxlib and upstream's differ by that only, and must not be mixed up; a source archive goes as well."""
    ours, theirs = wheel("jaxlib-1.2.3-1-cp312-cp312-linux.whl"), wheel("jaxlib-1.2.3-cp312-cp312-linux.whl")
    other = wheel("jaxlib-1.2.3-cp313-cp313-linux.whl")
    assert drop_superseded([theirs, ours, other]) == [ours, other]
    both = {"name": "jaxlib", "version": "1.2.3", "sdist": wheel("x.tar.gz"), "wheels": [theirs, ours]}
    (merged,) = merge_packages([Group("a", "a", (), (both,))])
    assert (merged["wheels"], "sdist" in merged) == ([ours], False)


_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab .\"'é", max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text('abc-_ ."\\\n', max_size=4), _VALUES, max_size=4))
def test_what_is_written_is_read_again(document: dict[str, Any]) -> None:
    """Any texts, keys, lists and tables survive."""
    assert tomllib.loads(write_toml(document)) == document


def test_times_are_written_and_others_refused() -> None:
    """Lock files have times of upload; nothing is written that TOML does not have."""
    time = dt.datetime(2026, 9, 17, 23, 43, 35, tzinfo=dt.UTC)
    assert write_toml({"t": time}) == "t = 2026-09-17T23:43:35Z\n"
    with pytest.raises(TypeError, match="None"):
        write_toml({"t": None})
