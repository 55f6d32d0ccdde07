# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files: how they are put together, written, read again and compared with a machine."""

from __future__ import annotations

import dataclasses
import datetime as dt
import importlib
import json
import os
import re
import shutil
import sys
import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import default_environment
from packaging.pylock import Pylock, PylockSelectError

from jaxlib_select.apply.formats import format_of, write_requirements, write_uv_snippet
from jaxlib_select.apply.groups import make_choices
from jaxlib_select.apply.install_lock import apply_lock, choose_group, versions_of
from jaxlib_select.apply.installer import pip_installer, uv_installer
from jaxlib_select.apply.locations import local_file, make_relative, pack_arguments, unpack_arguments
from jaxlib_select.apply.lock_environment import (
    LockEnvironment,
    check_machine,
    make_lock_environment,
    read_lock_environment,
)
from jaxlib_select.apply.lock_file import find_differences, read_lock, write_again
from jaxlib_select.apply.pylock import (
    Evidence,
    Group,
    Table,
    build_document,
    drop_superseded,
    merge_packages,
    packages_of,
)
from jaxlib_select.apply.resolution import pip_remark, read_report
from jaxlib_select.apply.toml_writer import write_toml
from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.choose.policy import Policy, read_policy
from jaxlib_select.choose.resolvers.jax import _bounds
from jaxlib_select.cli import main
from jaxlib_select.errors import LockError, UsageError
from jaxlib_select.installed.environment import Distribution, Environment
from jaxlib_select.machine.model import Machine
from machines import H100, V100

PYTHON = Path("/venv/bin/python")
HERE = make_lock_environment("linux", "x86_64", (3, 12, 1))
ENVIRONMENT: Any = {
    **default_environment(),
    "sys_platform": "linux",
    "platform_machine": "x86_64",
    "python_version": "3.12",
    "python_full_version": "3.12.1",
}


def wheel(name: str, place: str = "https://example.org") -> Table:
    """Return a wheel as lock files list it."""
    return {"url": f"{place}/{name}", "hashes": {"sha256": f"{sum(name.encode()):064x}"}}


def package(name: str, version: str = "1.0", **more: Any) -> Table:
    """Return a package with one wheel."""
    return {
        "name": name,
        "version": version,
        "wheels": [wheel(f"{name.replace('-', '_')}-{version}-py3-none-any.whl")],
        **more,
    }


GROUPS = (
    Group("cuda13", "cuda13", ("jax==1.2.3",), (package("jax"), package("cudnn", "9.28"), package("jaxlib-cuda-13"))),
    Group("cuda12", "cuda12", ("jax==1.2.3",), (package("jax"), package("cudnn", "9.10"), package("jaxlib-cuda-12"))),
)


def evidence(**more: Any) -> Evidence:
    """Return the evidence of a lock file."""
    given = Evidence(1, "jax", "auto", "cuda13", ("jax==1.2.3",), HERE.platform, HERE.python)
    return dataclasses.replace(given, **more)


@pytest.fixture
def make_lock(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the lock of `GROUPS`, with texts in it replaced."""

    def make(*changes: tuple[str, str], name: str = "pylock.toml") -> Path:
        text = write_toml(build_document(GROUPS, "cuda13", evidence(), HERE))
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return make


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
    assert (list(map(str, lock.environments or ())), str(lock.requires_python)) == (
        ['sys_platform == "linux" and platform_machine == "x86_64"'],
        "==3.12.*",
    )
    assert (lock.dependency_groups, lock.default_groups) == (["cuda13", "cuda12"], ["cuda13"])
    chosen = [f"{entry.name}=={entry.version}" for entry, _ in lock.select(environment=ENVIRONMENT)]
    assert sorted(chosen) == ["cudnn==9.28", "jax==1.0", "jaxlib-cuda-13==1.0"]
    other = [
        f"{entry.name}=={entry.version}"
        for entry, _ in lock.select(environment=ENVIRONMENT, dependency_groups=["cuda12"])
    ]
    assert sorted(other) == ["cudnn==9.10", "jax==1.0", "jaxlib-cuda-12==1.0"]
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
    (merged,) = merge_packages(
        [
            Group(
                "a",
                "a",
                (),
                ({"name": "jaxlib", "version": "1.2.3", "sdist": wheel("x.tar.gz"), "wheels": [theirs, ours]},),
            )
        ]
    )
    assert (merged["wheels"], "sdist" in merged) == ([ours], False)


def test_the_source_of_a_package_without_build_tags_stays() -> None:
    """Only where a build tag decides would installers take another build from it."""
    package = {
        "name": "demo",
        "version": "1",
        "sdist": wheel("demo-1.tar.gz"),
        "wheels": [wheel("demo-1-py3-none-any.whl")],
    }
    (merged,) = merge_packages([Group("cpu", "cpu", (), (package,))])
    assert merged["sdist"] == package["sdist"]


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
    with pytest.raises(TypeError, match="no TOML value: None"):
        write_toml({"t": None})


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


def test_with_which_arguments_a_lock_was_written(tmp_path: Path) -> None:
    """Folders next to it move with it, others stay, and passwords are not kept."""
    given = ["--groups", "cpu", "--find-links", f"{tmp_path}/my dist", "--find-links", "/dist"]
    indexes = ["--index-url", "https://me:secret@example.org/simple/", "--no-index"]
    packed = pack_arguments([*given, *indexes], tmp_path)
    kept = [*given[:3], "my dist", "--find-links", "/dist", "--index-url", "https://example.org/simple/", "--no-index"]
    assert packed == kept
    unpacked = unpack_arguments(packed, Path("moved"))
    assert list(unpacked) == [*given[:3], str(Path("moved/my dist")), *kept[4:]]
    path = tmp_path / "pylock.toml"
    path.write_text(write_toml(build_document(GROUPS, "cuda13", evidence(arguments=tuple(packed)), HERE)), "utf-8")
    assert (
        write_again(read_lock(path))
        == f"jaxlib-select lock jax --groups cpu --find-links '{tmp_path}/my dist' --find-links /dist "
        f"--index-url https://example.org/simple/ --no-index -o {path}"
    )


def test_a_lock_edited_by_hand_is_not_applied(
    make_lock: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the user insists."""
    (tmp_path / "uv").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    here = read_lock_environment(Path(sys.executable))
    path = make_lock(
        (f'platform = "{HERE.platform}"', f'platform = "{here.platform}"'),
        (f'\npython = "{HERE.python}"', f'\npython = "{here.python}"'),
    )
    assert main(["apply", str(path), "--dry-run"]) == LockError.exit_code
    assert capsys.readouterr().err.splitlines() == [
        f"error: {path} was changed by hand since it was written",
        f"       install it as it is: --force, or write it again: jaxlib-select lock jax -o {path}",
    ]
    assert main(["apply", str(path), "--dry-run", "--force"]) == 0
    assert f"-r {path}" in capsys.readouterr().out


def test_no_lock_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is absent, and one that nobody could have meant."""
    assert main(["lock", "--check", str(tmp_path / "pylock.toml")]) == 5
    assert capsys.readouterr().err.splitlines()[0] == f"error: cannot read {tmp_path / 'pylock.toml'}"
    assert main(["lock", "--check", str(tmp_path / "poetry.lock")]) == 2
    assert main(["lock"]) == 2


def test_the_names_of_locks() -> None:
    """Those of PEP 751, and requirements files."""
    names = ["pylock.toml", "pylock.gpu.toml", "requirements.txt"]
    assert [format_of(Path(name)) for name in names] == ["pylock", "pylock", "requirements"]
    with pytest.raises(UsageError, match=re.escape("not the name of a lock: 'pylock.a.b.toml'")):
        format_of(Path("pylock.a.b.toml"))
    with pytest.raises(UsageError) as caught:
        format_of(Path("uv.lock"))
    assert caught.value.remedy == "uv compares it with its project: uv lock --check"


def test_requirements_with_hashes(tmp_path: Path) -> None:
    """Pinned, with every hash, the options in front, and the evidence as a comment."""
    path = tmp_path / "requirements.txt"
    group = Group("cuda13", "cuda13", (), (package("jax"), package("a", marker="sys_platform == 'linux'")))
    path.write_text(write_requirements(group, evidence(), ["--index-url", "https://i/cu130", "--find-links", "/my w"]))
    lines = path.read_text().splitlines()
    assert lines[1:] == [
        "--index-url https://i/cu130",
        "--find-links file:///my%20w",
        "a==1.0 ; sys_platform == 'linux' \\",
        f"    --hash=sha256:{sum(b'a-1.0-py3-none-any.whl'):064x}",
        "jax==1.0 \\",
        f"    --hash=sha256:{sum(b'jax-1.0-py3-none-any.whl'):064x}",
    ]
    lock = read_lock(path)
    assert (lock.default, list(lock.groups), lock.edited, versions_of(lock, "cuda13")) == (
        "cuda13",
        ["cuda13"],
        False,
        {"a": "1.0", "jax": "1.0"},
    )
    path.write_text(path.read_text().replace("jax==1.0", "jax==1.1"))
    assert read_lock(path).edited


@pytest.mark.parametrize(
    "text", ["", "jax==1.0\n", "# jaxlib-select: {\n", "# jaxlib-select: {}\n", "# jaxlib-select: []\n"]
)
def test_a_requirements_file_of_somebody_else(tmp_path: Path, text: str) -> None:
    """It is not taken for a lock."""
    path = tmp_path / "requirements.txt"
    path.write_text(text)
    with pytest.raises(LockError) as caught:
        read_lock(path)
    assert caught.value.what == f"not a lock of jaxlib-select: {path}"


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


def test_the_snippet_for_uv() -> None:
    """One extra per backend, which exclude each other; PyTorch's packages come from the index of each."""
    jax = Decision("jaxlib-cuda-13", "cuda13", ("jaxlib-cuda-13==1.2.3",), (), ("nvidia-cublas>=13.2",))
    cpu = Decision("jaxlib-cpu", "cpu", ("jaxlib-cpu==1.2.3",), ())
    text = write_uv_snippet([jax, cpu])
    assert text.splitlines()[0] == "# Add this to pyproject.toml, then: uv sync --extra cuda13"
    assert tomllib.loads(text) == {
        "project": {
            "optional-dependencies": {
                "cuda13": ["jaxlib-cuda-13==1.2.3", "nvidia-cublas>=13.2"],
                "cpu": ["jaxlib-cpu==1.2.3"],
            }
        },
        "tool": {"uv": {"conflicts": [[{"extra": "cuda13"}, {"extra": "cpu"}]]}},
    }
    torch = Decision("torchvision", "cu126", ("torch==2.9.0", "torchvision"), (), index_url="https://i/cu126")
    assert tomllib.loads(write_uv_snippet([torch]))["tool"]["uv"] == {
        "index": [{"name": "cu126", "url": "https://i/cu126", "explicit": True}],
        "sources": {name: [{"index": "cu126", "extra": "cu126"}] for name in ("torch", "torchvision")},
    }


def test_where_wheels_are_goes_into_the_snippet_for_uv() -> None:
    """In the order in which uv asks: extra indexes, then the main one; a backend's own index is for its packages."""
    torch = Decision("torch", "cu126", ("torch==2.9.0",), (), index_url="https://i/cu126")
    extra = ["--extra-index-url", "https://a", "--extra-index-url", "https://b"]
    options = ["--no-index", "--find-links", "/dist", "--index-url", "https://main", *extra]
    assert tomllib.loads(write_uv_snippet([torch], options))["tool"]["uv"] == {
        "index": [
            {"name": "cu126", "url": "https://i/cu126", "explicit": True},
            {"url": "https://a"},
            {"url": "https://b"},
            {"url": "https://main", "default": True},
        ],
        "find-links": ["/dist"],
        "no-index": True,
        "sources": {"torch": [{"index": "cu126", "extra": "cu126"}]},
    }


@pytest.mark.parametrize(("version", "slow"), [("23.2.1", True), ("25.2", True), ("25.3", False), ("26.3", False)])
def test_a_pip_that_downloads_every_wheel_to_resolve(version: str, *, slow: bool) -> None:
    """Whoever waits for it sees why, and what does not wait."""
    said = f"pip {version} downloads every wheel to resolve; uv and pip 25.3 read the index's metadata instead"
    assert pip_remark(version) == (said if slow else "")


def test_a_lock_is_about_every_backend_with_wheels_for_the_platform() -> None:
    """The decision comes first; a platform without GPU wheels gets none of them."""
    names = [decision.group for decision in make_choices("jax", H100, Policy()).decisions]
    assert names[0] == "cuda13"
    cuda = ["cuda12", "cuda12-legacy", "cuda13", "cuda13-cc100"]
    assert sorted(names) == ["cpu", *cuda, "oneapi", "rocm7-local", "tpu"]
    arm = Machine(os="linux", arch="aarch64")
    assert sorted(d.group for d in make_choices("jax", arm, Policy()).decisions) == ["cpu", *cuda]
    chosen = make_choices("jax", H100, Policy(), ["cuda12-local"])
    assert [decision.backend for decision in chosen.decisions] == ["cuda13", "cuda12-local"]
    assert json.loads(str(chosen.evidence(HERE).machine))["nvidia"]["cuda"] == "13.0"


def test_a_lock_file_remembers_the_choice_that_counted() -> None:
    """Also one about the package that its resolver is named after, and as the resolver spells it."""
    policy = read_policy(["JAX=CPU"], {}, None)
    assert make_choices("jaxlib", H100, policy).asked == "cpu"
    lasting = read_policy([], {"JAXLIB_SELECT_BACKENDS_DEFAULT": "cuda12"}, None)
    assert [make_choices(name, H100, lasting, []).asked for name in ("jax", "torch")] == ["cuda12", "auto"]


def test_an_unknown_group_is_not_blamed_on_another_option() -> None:
    """The user wrote `--groups`."""
    with pytest.raises(UsageError, match=r"unknown backend for jax: 'bogus' \(from --groups\)"):
        make_choices("jax", H100, Policy(), ["cpu", "bogus"])


def test_a_lock_is_about_one_package(capsys: pytest.CaptureFixture[str]) -> None:
    """Its groups are the backends of that one."""
    assert main(["lock", "jax", "torch==2.14.0"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: a lock is about one package, not 2: jax torch==2.14.0",
        "       write one for each, as in: jaxlib-select lock torch==2.14.0 -o pylock.torch.toml",
    ]


def test_pips_report_becomes_packages() -> None:
    """Names as the standard wants them, files with hashes; what comes from a repository cannot be locked."""

    def item(url: str, **info: object) -> dict[str, object]:
        return {"metadata": {"name": "A_b", "version": "1"}, "download_info": {"url": url, **info}}

    hashed = {"archive_info": {"hashes": {"sha256": "0"}}}
    assert read_report(
        {"install": [item("https://e/a-1-py3-none-any.whl", **hashed), item("https://e/a.tar.gz", **hashed)]}
    ) == [
        {
            "name": "a-b",
            "version": "1",
            "wheels": [{"url": "https://e/a-1-py3-none-any.whl", "hashes": {"sha256": "0"}}],
        },
        {"name": "a-b", "version": "1", "sdist": {"url": "https://e/a.tar.gz", "hashes": {"sha256": "0"}}},
    ]
    with pytest.raises(LockError, match="cannot lock a-b 1"):
        read_report({"install": [item("git+https://e/a", vcs_info={})]})


def test_files_below_the_lock_move_with_it(tmp_path: Path) -> None:
    """Their paths become relative; others stay as they are, and are counted."""
    near = package("a") | {"wheels": [wheel("dist/a%20b.whl", tmp_path.as_uri())]}
    far = package("b") | {"wheels": [wheel("b.whl", "file:///elsewhere")]}
    packages, elsewhere = make_relative([near, far, package("c")], tmp_path)
    assert [entry["wheels"][0].get("path") for entry in packages] == ["dist/a b.whl", None, None]
    assert elsewhere == 1


@pytest.mark.parametrize(
    ("url", "windows", "path"),
    [
        ("file:///w/a%20b.whl", False, "/w/a b.whl"),
        ("file://localhost/w/a.whl", False, "/w/a.whl"),
        ("file:///C:/w/a%20b.whl", True, r"C:\w\a b.whl"),
        ("file://server/share/a.whl", True, r"\\server\share\a.whl"),
        ("https://example.org/a.whl", False, None),
        ("", False, None),
    ],
)
def test_files_on_this_machine(url: str, path: str | None, *, windows: bool) -> None:
    """A drive of Windows stands behind a slash, a server before one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.14, for who is not urllib
        module = importlib.import_module("nturl2path" if windows else "urllib.request")
    to_path = module.url2pathname
    assert (str(found) if (found := local_file(url, to_path)) else None) == path


def environment(pip: str) -> Environment:
    """Return an environment with a version of pip."""
    return Environment(PYTHON, (3, 12, 0), (), Path("/venv"), {"pip": Distribution("pip", pip, Path("/site"), {})})


def test_each_installer_is_asked_in_its_own_way(make_lock: Callable[..., Path]) -> None:
    """Both uv and new versions of pip read the lock; the default group is theirs to find."""
    path = make_lock()
    lock = read_lock(path)
    found = []
    for installer in (uv_installer(PYTHON), pip_installer(PYTHON)):
        for group in ("cuda13", "cuda12"):
            with apply_lock(lock, group, environment("26.3"), installer, []) as (command,):
                found.append(" ".join(command[command.index("install") + 1 :]))
    assert found == [
        f"--python /venv/bin/python -r {path}",
        f"--python /venv/bin/python -r {path} --group cuda12",
        f"-r {path}",
        f"--group {path}:cuda12",
    ]


def test_an_old_pip_gets_a_requirements_file(make_lock: Callable[..., Path]) -> None:
    """With the packages of the group, their hashes, and the folders where files lie."""
    path = make_lock(("https://example.org/jax-1.0", "file:///folder/jax-1.0"))
    with apply_lock(read_lock(path), "cuda12", environment("23.2.1"), pip_installer(PYTHON), []) as (command,):
        file = Path(command[-1])
        lines = [line for line in file.read_text().splitlines() if not line.startswith(("#", " "))]
    assert lines == ["--find-links file:///folder", "cudnn==9.10 \\", "jax==1.0 \\", "jaxlib-cuda-12==1.0 \\"]
    assert command[-3:-1] == ("--no-deps", "-r")
    assert not file.exists()
    with apply_lock(read_lock(path), "cuda12", environment("23.2.1"), pip_installer(PYTHON), [], keep=True) as (
        command,
    ):
        pass
    assert Path(command[-1]).is_file()  # as long as somebody may want to run what was printed
    shutil.rmtree(Path(command[-1]).parent)


def test_a_group_that_the_lock_has_not(make_lock: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The message lists those there are."""
    path = make_lock()
    assert choose_group(read_lock(path), None) == "cuda13"
    assert main(["apply", str(path), "--group", "rocm7"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error: {path} has no group 'rocm7'",
        "       it has: cuda13, cuda12",
    ]


def test_a_lock_is_written_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is not there is an error, not a traceback, and one that comes before anything is resolved."""
    absent = tmp_path / "absent/pylock.toml"
    assert main(["lock", "jax", "-o", str(absent), "--index-url", "http://127.0.0.1:9"]) == 5
    said = [f"error: cannot write {absent}", f"       there is no folder {absent.parent}"]
    assert capsys.readouterr().err.splitlines() == said
    assert main(["lock", "jax", "--format", "uv", "-o", str(tmp_path / "absent/x.toml")]) == 5
    assert main(["lock", "jax", "--format", "uv", "-o", str(tmp_path / "x.toml")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.toml"]
