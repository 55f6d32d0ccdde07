# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of uv and pip: what carries a decision out, what is removed, and why an installer failed."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select.apply.installer import (
    Installer,
    accelerator_families,
    explain_failure,
    find_installer,
    make_plan,
    other_backends,
    pip_installer,
    run_installer,
    show,
    uv_installer,
)
from jaxlib_select.choose.decision import Decision
from jaxlib_select.cli.arguments import active_python
from jaxlib_select.doctor.examine import installer_of
from jaxlib_select.errors import InstallError
from jaxlib_select.facts import load_facts
from jaxlib_select.installed.environment import Distribution, Environment
from jaxlib_select.installed.plugins import Plugin
from machines import H100, PLAIN
from select_commands import Select, WriteMachine, lacking

PYTHON = Path("/venv/bin/python")
UV, PIP = uv_installer(PYTHON), pip_installer(PYTHON)
CUDA12 = Decision(
    package="jaxlib-cuda-12",
    backend="cuda12",
    requirements=("jax==1.2.3", "jaxlib-cuda-12[with-cuda]==1.2.3"),
    candidates=(),
    constraints=("nvidia-cudnn-cu12<9.11",),
)
CUDA12_TEXT = "jax==1.2.3 'jaxlib-cuda-12[with-cuda]==1.2.3' 'nvidia-cudnn-cu12<9.11'"
FAMILIES = accelerator_families(load_facts())
TORCH = Decision("torch", "cu126", ("torch==2.9.0",), (), index_url="https://example.org/whl/cu126")
WITH_UV, WITH_PIP = "uv pip install --python /venv/bin/python", "/venv/bin/python -m pip install"


def environment(**versions: str) -> Environment:
    """Return an environment with these distributions."""
    names = {name.replace("_", "-"): version for name, version in versions.items()}
    found = {name: Distribution(name, version, Path("/site"), {}) for name, version in names.items()}
    return Environment(PYTHON, (3, 12, 0), (), Path("/venv"), found)


def plan(decision: Decision, installer: Installer, here: Environment) -> list[str]:
    """Return the commands that carry a decision out, as they are shown."""
    return [show(command) for command in make_plan([decision], here, [], installer, families=FAMILIES)]


def test_constraints_are_installed_with_the_requirements() -> None:
    """Both installers get the same texts; uv gets the environment, pip is the environment's own."""
    assert plan(CUDA12, UV, environment()) == [f"{WITH_UV} {CUDA12_TEXT}"]
    assert plan(CUDA12, PIP, environment()) == [f"{WITH_PIP} {CUDA12_TEXT}"]


def test_an_index_of_the_decision_is_the_only_one() -> None:
    """Of two, uv refuses both and pip takes the last; folders stay, and with --no-index nothing is asked."""
    mine = ("--index-url", "https://mine", "--find-links", "dist")
    for tool in (UV, PIP):
        jax, torch = make_plan([CUDA12, TORCH], environment(), [], replace(tool, sources=mine), families=FAMILIES)
        closed = ["--no-config"] if tool is UV else []  # a project's may add indexes
        assert jax == (*tool.install((*closed, *mine)), *CUDA12.requirements, *CUDA12.constraints)
        own = f"--index-url {TORCH.index_url} --find-links dist torch==2.9.0".split()
        assert torch == tool.install([*closed, *own])
    offline = replace(UV, sources=("--no-index", "--find-links", "dist"))
    assert offline.only_from(TORCH.index_url) == offline


def test_other_backends_go_after_the_new_one_is_there() -> None:
    """Ours and upstream's, with kernels; the CPU's and those of platforms that JAX does not know stay."""
    families = {"jaxlib_cpu": "cpu", "jaxlib_cuda_13": "cuda", "odd": "odd"}
    apart = ("jax_cuda13_pjrt", "jax_cuda13_plugin", "jaxlib_cuda_13_kernels")
    here = environment(**dict.fromkeys((*apart, *families), "1.2.3"))
    plugins = [Plugin(name, (), name.replace("_", "-"), platform=platform) for name, platform in families.items()]
    *_, last = make_plan([CUDA12], here, plugins, PIP, families=FAMILIES)
    upstream = ("jax-cuda13-pjrt", "jax-cuda13-plugin")
    ours = ("jaxlib-cuda-13", "jaxlib-cuda-13-kernels")
    assert last == ("/venv/bin/python", "-m", "pip", "uninstall", "-y", *upstream, *ours)
    assert other_backends(["jaxlib-cuda-13"], here, plugins, FAMILIES) == upstream
    assert not any("uninstall" in command for command in plan(TORCH, UV, here))  # that is not about JAX


def test_which_platforms_are_accelerators_is_a_fact() -> None:
    """Every backend of a release but the CPU's: nobody has to add a new one here."""
    facts = load_facts()
    new = replace(facts.backends[0], name="npu1", family="npu")
    families = accelerator_families(replace(facts, backends=(*facts.backends, new)))
    assert families == {backend.family for backend in facts.backends} - {"cpu"} | {"npu"}


@pytest.mark.parametrize("installed", ["2.9.0+cpu", "2.9.0"])
def test_a_wheel_of_another_index_is_installed_again(installed: str) -> None:
    """Installers take 2.9.0+cpu for 2.9.0 and would do nothing; nothing is removed before its successor is there.

    One of the right index stays.
    """
    here, index = environment(torch=installed), f"--index-url {TORCH.index_url}"
    assert plan(TORCH, UV, here) == [f"{WITH_UV} --no-config {index} --reinstall-package torch torch==2.9.0"]
    first = f"{WITH_PIP} {index} --force-reinstall --no-deps torch==2.9.0"
    assert plan(TORCH, PIP, here) == [first, f"{WITH_PIP} {index} torch==2.9.0"]
    assert plan(TORCH, UV, environment(torch="2.9.0+cu126")) == [f"{WITH_UV} --no-config {index} torch==2.9.0"]


def test_another_jaxlib_of_the_same_version_is_installed_again(tmp_path: Path) -> None:
    """Installers compare versions, and would keep JAX's own; ours has a lock, another version goes anyway."""
    (tmp_path / "jaxlib").mkdir()
    (tmp_path / "jaxlib/__init__.py").touch()
    stock = replace(environment(jax="1.2.3", jaxlib="1.2.3"), paths=(tmp_path,))
    assert plan(CUDA12, UV, stock) == [f"{WITH_UV} --reinstall-package jaxlib {CUDA12_TEXT} jaxlib==1.2.3"]
    first = f"{WITH_PIP} --force-reinstall --no-deps jaxlib==1.2.3"
    assert plan(CUDA12, PIP, stock) == [first, f"{WITH_PIP} {CUDA12_TEXT} jaxlib==1.2.3"]
    older = replace(environment(jax="1.2.2", jaxlib="1.2.2"), paths=(tmp_path,))
    assert plan(CUDA12, UV, older) == plan(CUDA12, UV, environment())
    (tmp_path / "jaxlib/release_lock.json").write_text(json.dumps({"release": "1.2.3", "lock_id": "0" * 32}))
    assert plan(CUDA12, UV, stock) == plan(CUDA12, UV, environment())


@pytest.mark.parametrize(
    ("kind", "has_uv", "expected"), [(None, True, "uv"), (None, False, "pip"), ("pip", True, "pip"), ("uv", True, "uv")]
)
def test_uv_comes_first_where_it_is(tmp_path: Path, kind: str | None, has_uv: bool, expected: str) -> None:
    """Unless the user says otherwise."""
    if has_uv:
        (tmp_path / "uv").touch(0o755)
    assert find_installer(environment(pip="26.3"), {"PATH": str(tmp_path)}, kind=kind).kind == expected


def test_in_a_project_of_uv_s_the_project_is_changed(tmp_path: Path) -> None:
    """Or the next `uv run` would undo it; what the project does not ask for goes by itself."""
    project = replace(UV, project=tmp_path)
    (command,) = make_plan([CUDA12], environment(**{"jax-cuda13-plugin": "1.2.3"}), [], project, families=FAMILIES)
    assert command == ("uv", "add", "--project", str(tmp_path), *CUDA12.requirements, *CUDA12.constraints)
    again = ("uv", "sync", "--inexact", "--project", str(tmp_path), "--reinstall-package", "jax")
    assert project.reinstall(["jax==1.2.3"]) == again
    (tmp_path / "uv.lock").touch()
    here = replace(environment(pip="25.0"), prefix=tmp_path / ".venv")
    assert [installer_of(here, kind=kind).project for kind in ("uv", "pip")] == [tmp_path, None]


@pytest.mark.parametrize(("kind", "named"), [(None, "ensurepip"), ("uv", "--installer uv")])
def test_no_installer_at_all(kind: str | None, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy is about what was asked for."""
    with pytest.raises(InstallError, match=named):
        find_installer(environment(), {"PATH": "/nowhere"}, kind=kind)
    monkeypatch.setenv("PATH", "/nowhere")
    shown = installer_of(environment(), kind=kind)  # by the doctor, with what has to be done first
    assert (shown.kind, named in shown.note) == (kind or "pip", True)


FAILED, UNREACHABLE, ABSENT, OTHER_HASH = "status 2", "cannot be reached", "does not have", "another hash"


@pytest.mark.parametrize(
    ("lines", "what", "cause"),
    [
        ("Failed to establish a new connection: no\nERROR: No matching distribution found for jax", UNREACHABLE, ""),
        ("error: Failed to fetch: `https://example.org/simple/jax/`", UNREACHABLE, ""),
        ("error: No solution found when\nPackages were unavailable because the network was disabled.", UNREACHABLE, ""),
        ("  \N{MULTIPLICATION SIGN} No solution found when resolving dependencies:", ABSENT, ""),
        ("error: No solution found\n  cause: Because a was not found in the registry", ABSENT, "cause: Because a was"),
        ("ERROR: Could not find a version of a\nERROR: No matching distribution found", ABSENT, "ERROR: Could not"),
        ("x Failed to download `a`\n  Hash mismatch for `a==1`\n  sha256:fb", OTHER_HASH, "Hash mismatch for `a==1`"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM\nGot 12", OTHER_HASH, "ERROR: THESE PACKAGES DO NOT"),
        ("error: '--x' cannot be used twice\n\nFor more information, try '--help'.", FAILED, "error: '--x' cannot be"),
        ("boom\nbang\n", FAILED, "bang"),
    ],
)  # fmt: skip
def test_why_an_installer_failed(lines: str, what: str, cause: str) -> None:
    """A network that is down is distinguished from an index that lacks a package; the last line does not always say."""
    error = explain_failure(["pip", "install", "jax"], 2, lines.split("\n"))
    assert (what in error.what, error.cause.startswith(cause)) == (True, True)


def test_a_failing_installer_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it printed, whatever bytes, was shown on standard error."""
    program = tmp_path / "installer"
    program.write_bytes(b"#!/bin/sh\necho talk \xff\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(InstallError, match="status 3"):
        run_installer([str(program)])
    assert capsys.readouterr() == ("", "talk \N{REPLACEMENT CHARACTER}\n")
    with pytest.raises(InstallError):
        run_installer([str(tmp_path / "absent")])


@pytest.fixture
def _found_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a uv on PATH that is never run."""
    (tmp_path / "uv").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


@pytest.mark.usefixtures("_found_uv")
def test_the_command_shows_what_it_would_do(
    select: Select, write_machine: WriteMachine, make_python: Callable[..., Path]
) -> None:
    """With --dry-run nothing is run; the decision is for the machine of the file, and its index is the only one."""
    options = ["--machine", write_machine(H100), "--python", make_python(), "--dry-run", "--json"]
    document = json.loads(select("install", "jax", *options, "--find-links", "dist").out)
    assert document["decisions"][0]["package"] == "jaxlib-cuda-13"
    wheels = ["--only-binary", "jaxlib", "--only-binary", "jaxlib-cuda-13"]
    assert document["commands"][0][-6:] == [*wheels, "jax==1.2.3", "jaxlib-cuda-13[with-cuda]==1.2.3+split.1"]
    said = select("install", "torch", *options, "--index-url", "https://mine")
    assert (said.status, "https://mine" in said.out) == (0, False)


@pytest.mark.usefixtures("_found_uv")
def test_in_a_project_of_uv_s_the_command_that_keeps_it_is_shown(
    select: Select, write_machine: WriteMachine, make_python: Callable[..., Path], tmp_path: Path
) -> None:
    """The next `uv run` would undo what `install` does; the index is in that command."""
    python = make_python()
    python.write_text(python.read_text().replace(f'"{tmp_path}"', f'"{tmp_path}/.venv"'))
    options = ["--machine", write_machine(H100), "--python", python, "--dry-run", "--index-url", "https://mine"]
    assert "uv add" not in select("install", "jax", *options).err
    (tmp_path / "uv.lock").touch()
    command = select("install", "jax", *options).err.splitlines()[-1]
    assert command.startswith(f"  uv add --project {tmp_path} --index-url https://mine jax==1.2.3 ")


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


@pytest.mark.usefixtures("_found_uv")
@pytest.mark.parametrize("command", ["install jax", "install jax --dry-run", "lock jax"])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"version": (3, 10, 7)}, (">=3.11", "3.10.7", " venv ")),
        ({"platform": ("linux", "aarch64")}, ("linux_aarch64",)),
    ],
    ids=["Python", "platform"],
)
def test_an_environment_for_which_there_are_no_wheels(
    select: Select,
    write_machine: WriteMachine,
    make_python: Callable[..., Path],
    command: str,
    options: dict[str, Any],
    named: tuple[str, ...],
) -> None:
    """Installers say that unclearly, or take the wheels of their own platform, so it is checked before."""
    python = make_python(**options)
    said = select(*command.split(), "--machine", write_machine(PLAIN), "--python", python)
    assert (said.status, lacking(said.err, *named)) == (2, [])
