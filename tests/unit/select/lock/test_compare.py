# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files: read again, and compared with a machine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.apply.formats import write_toml
from jaxlib_select.apply.groups import make_choices
from jaxlib_select.apply.lock_file import find_differences, read_lock
from jaxlib_select.apply.pylock import Group, LockEnvironment, build_document, check_machine, make_lock_environment
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import Policy
from jaxlib_select.choose.resolvers.jax import _bounds
from jaxlib_select.errors import LockError, UsageError
from jaxlib_select.machine.model import Machine
from lock_files import GROUPS, HERE, evidence
from machines import H100, V100
from select_commands import Select

CUDA13 = Decision("jaxlib-cuda-13", "cuda13", ("jax==1.2.3",), ())
CUDA12 = replace(CUDA13, package="jaxlib-cuda-12", backend="cuda12")


@pytest.mark.parametrize(
    ("platform", "python", "named"),
    [
        ("linux_x86_64", "3.12", []),
        ("linux_aarch64", "3.12", ["linux_aarch64"]),
        ("macos_arm64", "3.14", ["macos_arm64", "3.14"]),
    ],
)
def test_another_platform_or_python_needs_another_lock(
    make_lock: Callable[..., Path], platform: str, python: str, named: list[str]
) -> None:
    """Though the backend is the same: no group of this one is proposed."""
    path, here = make_lock(), LockEnvironment(platform, python)
    differences = find_differences(read_lock(path), CUDA13, here)
    assert [value in line for value, line in zip(named, differences, strict=True)] == [True] * len(named)
    if named:
        differences = find_differences(read_lock(path), CUDA12, here)
        assert [line.endswith(f"jaxlib-select lock jax -o {path}") for line in differences] == [True] * len(differences)


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
    with pytest.raises(UsageError, match=r"Linux on aarch64.*linux_x86_64"):
        check_machine(HERE, Machine(os="linux", arch="aarch64"), "go there")


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


@pytest.mark.parametrize(
    ("decision", "command"),
    [
        (CUDA12, "apply LOCK --group cuda12"),
        (replace(CUDA12, constraints=("cudnn<9.11",)), "lock jax -o LOCK"),  # the lock's is not for an older GPU
        (replace(CUDA13, backend="rocm7"), "lock jax -o LOCK"),
        (replace(CUDA13, requirements=("jax==1.2.4",)), "lock jax -o LOCK"),
    ],
    ids=["another group", "other bounds", "no such group", "a new release"],
)
def test_another_machine_wants_something_else(make_lock: Callable[..., Path], decision: Decision, command: str) -> None:
    """A group that fits is proposed, else the lock is to be written again."""
    path = make_lock()
    (difference,) = find_differences(read_lock(path), decision, HERE)
    assert difference.endswith(f"; run: jaxlib-select {command.replace('LOCK', str(path))}")


@pytest.mark.parametrize(
    ("before", "after"),
    [('version = "9.28"', 'version = "9.29"'), ("'cuda12' in", "'cuda13' in"), ('"jax==1.2.3"', '"jax==1.2.2"')],
)
def test_a_lock_edited_by_hand(make_lock: Callable[..., Path], before: str, after: str) -> None:
    """It is noticed, whatever was changed; comments and layout are no change."""
    lock = read_lock(make_lock((before, after)))
    wanted = replace(CUDA13, requirements=lock.groups["cuda13"].requirements)
    (difference,) = find_differences(lock, wanted, HERE)
    assert (lock.edited, difference.endswith(f"jaxlib-select lock jax -o {lock.path}")) == (True, True)
    assert not read_lock(make_lock(('lock-version = "1.0"', '# mine\n\nlock-version   = "1.0"'))).edited


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('lock-version = "1.0"', "lock-version ="),
        ('lock-version = "1.0"', 'lock-version = "2.0"'),
        ("[tool.jaxlib-select]", "[tool.other]"),
        ('default-groups = ["cuda13"]', 'default-groups = ["cpu"]'),
        ('default-groups = ["cuda13"]', "default-groups = []"),
        ('default-groups = ["cuda13"]', "default-groups = 3"),
        ("[[packages]]", "[[other]]"),
        ('name = "cudnn"', 'called = "cudnn"'),
        ('name = "jax"', "name = 3"),
        ('version = "9.10"\n', ""),
        ("marker = \"'cuda13' in dependency_groups\"", "marker = []"),
        ("{ sha256 =", "{ md5 ="),
        ("wheels = [\n", 'wheels = ["x", \n'),
    ],
)
def test_a_broken_lock(make_lock: Callable[..., Path], select: Select, before: str, after: str) -> None:
    """One error with the file's name, exit status 5."""
    path = make_lock((before, after))
    for words in (("lock", "--check", path), ("apply", path, "--dry-run", "--force")):
        said = select(*words)
        assert (said.status, str(path) in said.err) == (LockError.exit_code, True)


def test_a_lock_of_another_schema(tmp_path: Path) -> None:
    """It was not changed by hand, but written by another version."""
    path = tmp_path / "pylock.toml"
    path.write_text(write_toml(build_document(GROUPS, "cuda13", evidence(schema=2), HERE)), "utf-8")
    with pytest.raises(LockError, match="schema 2"):
        read_lock(path)
