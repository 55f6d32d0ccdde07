# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of uv and pip: what carries a decision out, what is removed, and why an installer failed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select.apply.installer import (
    accelerator_families,
    explain_failure,
    find_installer,
    make_plan,
    only_from,
    other_backends,
    pip_installer,
    run_installer,
    show,
    uv_installer,
)
from jaxlib_select.choose.decision import Decision
from jaxlib_select.cli import main
from jaxlib_select.cli.arguments import active_python
from jaxlib_select.errors import InstallError, UsageError
from jaxlib_select.facts import load_facts
from jaxlib_select.installed.environment import Distribution, Environment
from jaxlib_select.installed.plugins import Plugin
from jaxlib_select.machine.file import to_json
from machines import H100

PYTHON = Path("/venv/bin/python")
UV, PIP = uv_installer(PYTHON), pip_installer(PYTHON)
CUDA12 = Decision(
    package="jaxlib-cuda-12",
    backend="cuda12",
    requirements=("jax==1.2.3", "jaxlib-cuda-12[with-cuda]==1.2.3"),
    candidates=(),
    constraints=("nvidia-cudnn-cu12<9.11",),
)
FAMILIES = accelerator_families(load_facts())
TORCH = Decision("torch", "cu126", ("torch==2.9.0",), (), index_url="https://example.org/whl/cu126")


def environment(**versions: str) -> Environment:
    """Return an environment with these distributions."""
    names = {name.replace("_", "-"): version for name, version in versions.items()}
    found = {name: Distribution(name, version, Path("/site"), {}) for name, version in names.items()}
    return Environment(PYTHON, (3, 12, 0), (), Path("/venv"), found)


def test_constraints_are_installed_with_the_requirements() -> None:
    """Both installers get the same texts; uv gets the environment, pip is the environment's own."""
    requirements = "jax==1.2.3 'jaxlib-cuda-12[with-cuda]==1.2.3' 'nvidia-cudnn-cu12<9.11'"
    assert [show(*make_plan([CUDA12], environment(), [], installer, families=FAMILIES)) for installer in (UV, PIP)] == [
        f"uv pip install --python /venv/bin/python {requirements}",
        f"/venv/bin/python -m pip install {requirements}",
    ]


def test_each_index_has_a_command_of_its_own() -> None:
    """The index of PyTorch must not be asked for JAX."""
    plan = make_plan([CUDA12, TORCH], environment(), [], UV, ["--find-links", "dist"], families=FAMILIES)
    assert [command[4:] for command in plan] == [
        ("/venv/bin/python", "--find-links", "dist", *CUDA12.requirements, *CUDA12.constraints),
        ("/venv/bin/python", "--index-url", TORCH.index_url, "--find-links", "dist", "torch==2.9.0"),
    ]


def test_an_index_of_the_decision_is_the_only_one() -> None:
    """Of two, uv refuses both and pip takes the last; folders stay, and with --no-index nothing is asked."""
    mine = ("--index-url", "https://mine", "--find-links", "dist", "--extra-index-url", "https://more")
    for tool in (UV, PIP):
        jax, torch = make_plan([CUDA12, TORCH], environment(), [], tool, mine, families=FAMILIES)
        assert jax == (*tool.install(["x"], options=mine)[:-1], *CUDA12.requirements, *CUDA12.constraints)
        own = ("--index-url", TORCH.index_url, "--find-links", "dist", "torch==2.9.0")
        assert torch == (*tool.install(["x"])[:-1], *own)
    offline = ("--no-index", "--find-links", "dist")
    assert only_from(TORCH.index_url, offline) == offline


def test_other_backends_go_after_the_new_one_is_there() -> None:
    """Ours and upstream's, with kernels; the CPU's and those of platforms that JAX does not know stay."""
    here = environment(
        jaxlib_cpu="1.2.3", jaxlib_cuda_13="1.2.3", jax_cuda13_pjrt="1.2.3", jax_cuda13_plugin="1.2.3", odd="1"
    )
    plugins = [
        Plugin("jaxlib_cpu", (), "jaxlib-cpu", platform="cpu"),
        Plugin("jaxlib_cuda_13", (), "jaxlib-cuda-13", platform="cuda"),
        Plugin("odd", (), "odd", platform="odd"),
    ]
    plan = make_plan([CUDA12], here, plugins, PIP, families=FAMILIES)
    assert plan[-1] == (
        *("/venv/bin/python", "-m", "pip", "uninstall", "-y"),
        *("jax-cuda13-pjrt", "jax-cuda13-plugin", "jaxlib-cuda-13"),
    )
    assert other_backends(["jaxlib-cuda-13"], here, plugins, FAMILIES) == ("jax-cuda13-pjrt", "jax-cuda13-plugin")


def test_which_platforms_are_accelerators_is_a_fact() -> None:
    """Every backend of a release but the CPU's: nobody has to add a new one here."""
    facts = load_facts()
    assert accelerator_families(facts) == {backend.family for backend in facts.backends} - {"cpu"}
    new = replace(facts.backends[0], name="npu1", family="npu")
    families = accelerator_families(replace(facts, backends=(*facts.backends, new)))
    plugins = [Plugin("jaxlib_npu_1", (), "jaxlib-npu-1", platform="npu")]
    assert make_plan([CUDA12], environment(), plugins, UV, families=families)[-1][-1] == "jaxlib-npu-1"


def test_torch_leaves_jax_alone() -> None:
    """Only a decision about JAX removes its backends."""
    here = environment(jax_cuda13_pjrt="1.2.3", jax_cuda13_plugin="1.2.3")
    assert not any("uninstall" in command for command in make_plan([TORCH], here, [], UV, families=FAMILIES))


@pytest.mark.parametrize("installed", ["2.9.0+cpu", "2.9.0"])
def test_a_wheel_of_another_index_is_installed_again(installed: str) -> None:
    """Installers take 2.9.0+cpu for 2.9.0 and would do nothing; nothing is removed before its successor is there."""
    steps = [make_plan([TORCH], environment(torch=installed), [], tool, families=FAMILIES) for tool in (UV, PIP)]
    index = "--index-url https://example.org/whl/cu126"
    assert [[show(step) for step in plan] for plan in steps] == [
        [f"uv pip install --python /venv/bin/python {index} --reinstall-package torch torch==2.9.0"],
        [
            f"/venv/bin/python -m pip install {index} --force-reinstall --no-deps torch==2.9.0",
            f"/venv/bin/python -m pip install {index} torch==2.9.0",
        ],
    ]


def test_another_jaxlib_of_the_same_version_is_installed_again(tmp_path: Path) -> None:
    """Installers compare versions, and would keep JAX's own; ours has a lock, another version goes anyway."""
    (tmp_path / "jaxlib").mkdir()
    (tmp_path / "jaxlib/__init__.py").touch()
    stock = replace(environment(jax="1.2.3", jaxlib="1.2.3"), paths=(tmp_path,))
    found = [make_plan([CUDA12], stock, [], tool, families=FAMILIES) for tool in (UV, PIP)]
    target = "uv pip install --python /venv/bin/python"
    requirements = "jax==1.2.3 'jaxlib-cuda-12[with-cuda]==1.2.3' 'nvidia-cudnn-cu12<9.11' jaxlib==1.2.3"
    assert [[show(step) for step in plan] for plan in found] == [
        [f"{target} --reinstall-package jaxlib {requirements}"],
        [
            "/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib==1.2.3",
            f"/venv/bin/python -m pip install {requirements}",
        ],
    ]
    plain = make_plan([CUDA12], environment(), [], UV, families=FAMILIES)
    older = replace(environment(jax="1.2.2", jaxlib="1.2.2"), paths=(tmp_path,))
    assert make_plan([CUDA12], older, [], UV, families=FAMILIES) == plain
    lock = {"release": "1.2.3", "lock_id": "0" * 32}
    (tmp_path / "jaxlib/release_lock.json").write_text(json.dumps(lock))
    assert make_plan([CUDA12], stock, [], UV, families=FAMILIES) == plain


def test_a_wheel_of_the_right_index_stays() -> None:
    """There is nothing to install again."""
    for tool in (UV, PIP):
        (command,) = make_plan([TORCH], environment(torch="2.9.0+cu126"), [], tool, families=FAMILIES)
        assert command == tool.install(["torch==2.9.0"], index_url=TORCH.index_url)


@pytest.mark.parametrize(
    ("kind", "has_uv", "expected"),
    [(None, True, "uv"), (None, False, "pip"), ("pip", True, "pip"), ("uv", True, "uv")],
)
def test_uv_comes_first_where_it_is(tmp_path: Path, kind: str | None, *, has_uv: bool, expected: str) -> None:
    """Unless the user says otherwise."""
    program = tmp_path / "uv"
    if has_uv:
        program.touch(0o755)
    assert find_installer(environment(pip="26.3"), {"PATH": str(tmp_path)}, kind=kind).kind == expected


@pytest.mark.parametrize(("kind", "remedy"), [(None, "ensurepip"), ("pip", "ensurepip"), ("uv", "--installer uv")])
def test_no_installer_at_all(kind: str | None, remedy: str) -> None:
    """The remedy is about what was asked for."""
    with pytest.raises(InstallError) as caught:
        find_installer(environment(), {"PATH": "/nowhere"}, kind=kind)
    assert remedy in caught.value.remedy
    with pytest.raises(UsageError, match="'conda'"):
        find_installer(environment(), {}, kind="conda")


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (["Retrying: Failed to establish a new connection: refused", "ERROR: No matching distribution found for jax"],
         "the package index cannot be reached"),
        (["error: Failed to fetch: `https://example.org/simple/jax/`"], "the package index cannot be reached"),
        (["error: No solution found when resolving dependencies",
          "hint: Packages were unavailable because the network was disabled."], "the package index cannot be reached"),
        (["  \N{MULTIPLICATION SIGN} No solution found when resolving dependencies:"],
         "the package index does not have what is wanted"),
        (["ERROR: No matching distribution found for jax==9"], "the package index does not have what is wanted"),
        (["boom", ""], "the installer failed with status 2: pip install jax"),
    ],
)  # fmt: skip
def test_why_an_installer_failed(lines: Sequence[str], what: str) -> None:
    """A network that is down is distinguished from an index that lacks a package."""
    assert explain_failure(["pip", "install", "jax"], 2, lines).what == what


@pytest.mark.parametrize(
    ("lines", "what", "cause"),
    [
        (["error: the argument '--x' cannot be used twice", "", "For more information, try '--help'."],
         "the installer failed with status 2: pip install jax", "error: the argument '--x' cannot be used twice"),
        (["boom", "bang"], "the installer failed with status 2: pip install jax", "bang"),
        (["  \N{MULTIPLICATION SIGN} Failed to download `a`", "  Hash mismatch for `a==1`", "  sha256:fbde"],
         "a file has another hash than the lock or the package index says", "Hash mismatch for `a==1`"),
        (["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "Got 12"],
         "a file has another hash than the lock or the package index says",
         "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."),
    ],
)  # fmt: skip
def test_the_line_that_says_why(lines: Sequence[str], what: str, cause: str) -> None:
    """It is not always the last one."""
    error = explain_failure(["pip", "install", "jax"], 2, lines)
    assert (error.what, error.cause) == (what, cause)


def test_a_failing_installer_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it printed, whatever bytes, was shown on standard error."""
    program = tmp_path / "installer"
    program.write_bytes(b"#!/bin/sh\necho talk \xff\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(InstallError, match="failed with status 3"):
        run_installer([str(program)])
    assert capsys.readouterr() == ("", "talk \N{REPLACEMENT CHARACTER}\n")
    with pytest.raises(InstallError, match="cannot run"):
        run_installer([str(tmp_path / "absent")])


@pytest.mark.usefixtures("_found_uv")
def test_the_command_shows_what_it_would_do(
    tmp_path: Path, make_python: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """With --dry-run nothing is run; the decision is for the machine of the file, and its index is the only one."""
    machine = tmp_path / "m.json"
    machine.write_text(json.dumps(to_json(H100)))
    options = ["--machine", str(machine), "--python", str(make_python()), "--dry-run", "--json"]
    assert main(["install", "jax", *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["decisions"][0]["package"] == "jaxlib-cuda-13"
    assert document["commands"][0][-2:] == ["jax==1.2.3", "jaxlib-cuda-13[with-cuda]==1.2.3+split.1"]
    assert main(["install", "torch", *options, "--index-url", "https://mine"]) == 0
    printed = capsys.readouterr()
    assert ("https://mine" in printed.out, "https://mine" in printed.err) == (False, True)


@pytest.fixture
def cpu_machine(tmp_path: Path) -> str:
    """Return the file of a machine without accelerators."""
    path = tmp_path / "cpu.json"
    path.write_text('{"os": "linux", "arch": "x86_64"}')
    return str(path)


def test_the_active_environment_is_meant(tmp_path: Path) -> None:
    """As uv means it; not when the program runs in that very environment, or when it is gone."""
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    active = {"VIRTUAL_ENV": str(tmp_path / "venv")}
    assert active_python(active, Path("/usr")) == python
    assert active_python(active, tmp_path / "venv") is None
    assert active_python({"VIRTUAL_ENV": str(tmp_path / "gone")}, Path("/usr")) is None
    assert active_python({}, Path("/usr")) is None


COMMANDS = [["install", "jax"], ["install", "jax", "--dry-run"], ["lock", "jax"]]


@pytest.fixture
def _found_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a uv on PATH that is never run."""
    (tmp_path / "uv").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


@pytest.mark.usefixtures("_found_uv")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("options", "named"),
    [({"version": (3, 11, 7)}, (">=3.12", "3.11.7")), ({"platform": ("linux", "aarch64")}, ("linux_aarch64",))],
    ids=["Python", "platform"],
)
def test_an_environment_for_which_there_are_no_wheels(
    cpu_machine: str,
    make_python: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    options: dict[str, Any],
    named: tuple[str, ...],
) -> None:
    """Installers say that unclearly, or take the wheels of their own platform, so it is checked before."""
    assert main([*command, "--machine", cpu_machine, "--python", str(make_python(**options))]) == 2
    said = capsys.readouterr().err
    assert [value for value in named if value not in said] == []
