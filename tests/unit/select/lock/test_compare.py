# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files: read again, and compared with a machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlib_select.apply.formats import write_requirements, write_toml
from jaxlib_select.apply.groups import make_choices
from jaxlib_select.apply.lock_file import find_differences, read_lock
from jaxlib_select.apply.pylock import Group, LockEnvironment, build_document, check_machine, make_lock_environment
from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.choose.policy import Policy
from jaxlib_select.choose.resolvers.jax import _bounds
from jaxlib_select.cli import main
from jaxlib_select.errors import LockError, UsageError
from jaxlib_select.machine.model import Machine
from lock_files import GROUPS, HERE, evidence
from machines import H100, V100


def test_lock_and_machine_agree(make_lock: Callable[..., Path]) -> None:
    """There is nothing to say."""
    decision = Decision("jaxlib-cuda-13", "cuda13", ("jax==1.2.3",), ())
    assert find_differences(read_lock(make_lock()), decision, HERE) == []


@pytest.mark.parametrize(
    ("here", "misfits"),
    [
        (LockEnvironment("linux_aarch64", "3.12"), ["it holds for linux_x86_64, not for linux_aarch64"]),
        (LockEnvironment("linux_x86_64", "3.13"), ["it holds for Python 3.12, not for 3.13"]),
        (
            LockEnvironment("macos_arm64", "3.14"),
            ["it holds for linux_x86_64, not for macos_arm64", "it holds for Python 3.12, not for 3.14"],
        ),
    ],
)
def test_another_platform_or_python_needs_another_lock(
    make_lock: Callable[..., Path], here: LockEnvironment, misfits: list[str]
) -> None:
    """Though the backend is the same: no group of this one is proposed."""
    path = make_lock()
    again = f"jaxlib-select lock jax -o {path}"
    decision = Decision("jaxlib-cuda-13", "cuda13", ("jax==1.2.3",), ())
    assert find_differences(read_lock(path), decision, here) == [
        f"{path} does not fit: {misfit}; write another one there: {again}" for misfit in misfits
    ]
    other = Decision("jaxlib-cuda-12", "cuda12", ("jax==1.2.3",), ())
    assert find_differences(read_lock(path), other, here)[-1].endswith(f"wants cuda12 (); run: {again}")


@pytest.mark.parametrize(
    ("says", "platform", "marker"),
    [
        (("linux", "aarch64"), "linux_aarch64", "sys_platform == 'linux' and platform_machine == 'aarch64'"),
        (("darwin", "arm64"), "macos_arm64", "sys_platform == 'darwin' and platform_machine == 'arm64'"),
        (("win32", "AMD64"), "windows_x86_64", "sys_platform == 'win32' and platform_machine == 'AMD64'"),
    ],
)
def test_platforms_in_machines_and_in_markers(says: tuple[str, str], platform: str, marker: str) -> None:
    """The interpreter's words are those of markers; machines have names of their own."""
    assert make_lock_environment(*says, (3, 12, 1)) == LockEnvironment(platform, "3.12", marker)


def test_a_lock_for_a_machine_of_another_platform_is_refused() -> None:
    """Its wheels would be those of the platform that resolves."""
    check_machine(HERE, H100, "")
    with pytest.raises(UsageError) as caught:
        check_machine(HERE, Machine(os="linux", arch="aarch64"), "go there")
    assert caught.value.what == "the machine is Linux on aarch64, but the wheels would be for linux_x86_64"


def test_another_machine_wants_another_group(make_lock: Callable[..., Path]) -> None:
    """With the command that installs that group, as it is in the lock."""
    path = make_lock()
    decision = Decision("jaxlib-cuda-12", "cuda12", ("jax==1.2.3",), (Candidate("cuda12", chosen=True, reason="old"),))
    assert find_differences(read_lock(path), decision, HERE) == [
        f"the lock is for cuda13, this machine wants cuda12 (old); run: jaxlib-select apply {path} --group cuda12"
    ]


def test_a_group_with_other_bounds_is_no_help(make_lock: Callable[..., Path]) -> None:
    """It has libraries that an older GPU cannot run, so another lock is needed."""
    path = make_lock()
    decision = Decision("jaxlib-cuda-12", "cuda12", ("jax==1.2.3",), (), constraints=("cudnn<9.11",))
    assert find_differences(read_lock(path), decision, HERE) == [
        f"the lock is for cuda13, this machine wants cuda12 (); run: jaxlib-select lock jax -o {path}"
    ]


def test_a_lock_has_a_group_for_every_set_of_bounds(tmp_path: Path) -> None:
    """Written on an H100, it has one for a V100 as well, which the check names; written there, it is the default."""
    h100, v100 = (make_choices("jax", machine, Policy(), ["cuda12", "cpu"]) for machine in (H100, V100))
    assert [decision.group for decision in h100.decisions] == ["cuda13", "cuda12", "cuda12-legacy", "cpu"]
    assert [decision.group for decision in v100.decisions] == ["cuda12-legacy", "cuda12", "cpu"]
    groups = [Group(d.group, d.backend, (*d.requirements, *d.constraints), ()) for d in h100.decisions]
    path = tmp_path / "pylock.toml"
    path.write_text(write_toml(build_document(groups, "cuda13", h100.evidence(HERE), HERE)))
    assert [apply.rpartition("; run: ")[2] for apply in find_differences(read_lock(path), v100.decision, HERE)] == [
        f"jaxlib-select apply {path} --group cuda12-legacy"
    ]
    assert read_lock(path).groups["cuda12-legacy"].requirements[2:] == ("nvidia-cudnn-cu12<9.11",)


def test_gpus_of_several_generations_get_bounds_of_their_own() -> None:
    """One machine can have GPUs of two ranges: its group has both bounds."""
    table = {"<7.5": ("old<1",), ">=10,<12": ("new>2",)}
    assert _bounds("x", table, ("old<1", "new>2")) == {
        "x": (),
        "x-legacy": ("old<1",),
        "x-cc100": ("new>2",),
        "x-mixed": ("old<1", "new>2"),
    }
    assert list(_bounds("x", table, ("new>2",))) == ["x", "x-legacy", "x-cc100"]


def test_another_machine_wants_what_is_not_in_the_lock(make_lock: Callable[..., Path]) -> None:
    """Then it is to be written again, as after a new release."""
    path = make_lock()
    (other,) = find_differences(read_lock(path), Decision("jaxlib-rocm-7", "rocm7", (), ()), HERE)
    assert other.endswith(f"run: jaxlib-select lock jax -o {path}")
    (newer,) = find_differences(read_lock(path), Decision("jaxlib-cuda-13", "cuda13", ("jax==1.2.4",), ()), HERE)
    assert newer.startswith("the lock has jax==1.2.3, this machine wants jax==1.2.4")


@pytest.mark.parametrize(
    ("before", "after"),
    [('version = "9.28"', 'version = "9.29"'), ("'cuda12' in", "'cuda13' in"), ('"jax==1.2.3"', '"jax==1.2.2"')],
)
def test_a_lock_edited_by_hand(make_lock: Callable[..., Path], before: str, after: str) -> None:
    """It is noticed, whatever was changed."""
    path = make_lock((before, after))
    lock = read_lock(path)
    assert lock.edited
    decision = Decision("jaxlib-cuda-13", "cuda13", lock.groups["cuda13"].requirements, ())
    assert find_differences(lock, decision, HERE) == [
        f"{path} was changed by hand since it was written; write it again: jaxlib-select lock jax -o {path}"
    ]


def test_comments_and_layout_are_no_change(make_lock: Callable[..., Path]) -> None:
    """What counts is what the file says."""
    assert not read_lock(make_lock(('lock-version = "1.0"', '# mine\n\nlock-version   = "1.0"'))).edited


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ([('lock-version = "1.0"', "lock-version =")], "not a TOML file"),
        ([('lock-version = "1.0"', 'lock-version = "2.0"')], "lock version '2.0' is not known here"),
        ([("[tool.jaxlib-select]", "[tool.other]")], "not a lock of jaxlib-select"),
        ([('default-groups = ["cuda13"]', 'default-groups = ["cpu"]')], "default-groups is ['cpu']"),
        ([('default-groups = ["cuda13"]', "default-groups = []")], "default-groups is []"),
        ([('default-groups = ["cuda13"]', "default-groups = 3")], "not a lock of jaxlib-select"),
        ([("[[packages]]", "[[other]]")], "not a lock of jaxlib-select"),
        ([('name = "cudnn"', 'called = "cudnn"')], "damaged lock"),
        ([('name = "jax"', "name = 3")], "damaged lock"),
        ([('version = "9.10"\n', "")], "damaged lock"),
        ([("marker = \"'cuda13' in dependency_groups\"", "marker = []")], "damaged lock"),
        ([("{ sha256 =", "{ md5 =")], "damaged lock"),
        ([("wheels = [\n", 'wheels = ["x", \n')], "damaged lock"),
    ],
)
def test_a_broken_lock(make_lock: Callable[..., Path], changes: list[tuple[str, str]], what: str) -> None:
    """One error with the file's name, exit status 5."""
    path = make_lock(*changes)
    with pytest.raises(LockError, match=re.escape(f"{what}: {path}")):
        read_lock(path)
    assert main(["lock", "--check", str(path)]) == LockError.exit_code
    assert main(["apply", str(path), "--dry-run", "--force"]) == LockError.exit_code


def test_a_lock_that_is_not_there(tmp_path: Path) -> None:
    """What the system says, without its number and the name again."""
    with pytest.raises(LockError) as caught:
        read_lock(tmp_path / "pylock.toml")
    assert (caught.value.what, caught.value.cause) == (
        f"cannot read {tmp_path / 'pylock.toml'}",
        "No such file or directory",
    )


@pytest.mark.parametrize("name", ["pylock.toml", "requirements.txt"])
def test_a_lock_of_another_schema(tmp_path: Path, name: str) -> None:
    """It was not changed by hand, but written by another version."""
    path, other = tmp_path / name, evidence(schema=2)
    document = build_document(GROUPS, "cuda13", other, HERE)
    path.write_text(
        write_requirements(GROUPS[0], other, []) if name.endswith(".txt") else write_toml(document), "utf-8"
    )
    with pytest.raises(LockError) as caught:
        read_lock(path)
    assert caught.value.what == f"lock of schema 2, known here is 1: {path}"
    assert caught.value.remedy == "take that version, or write the lock again: jaxlib-select lock jax"
