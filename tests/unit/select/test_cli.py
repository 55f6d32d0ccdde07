# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The commands `detect` and `resolve`: what they print where, and how they end."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select import __version__
from jaxlib_select.cli import COMMANDS
from jaxlib_select.cli.detect import format_machine
from jaxlib_select.machine.model import Amd, Intel, Machine, Nvidia
from machines import PASCAL, nvidia_machine
from select_commands import Said, Select, WriteMachine, lacking

pytestmark = pytest.mark.usefixtures("quiet_place")
JAXLIB = "jaxlib-cuda-12[with-cuda]==1.2.3+split.1"


@pytest.fixture
def pascal(write_machine: WriteMachine) -> str:
    """Return the file of a machine with an old GPU, of which detection had a note."""
    return write_machine(replace(PASCAL, notes=("odd",)))


def test_decisions_are_printed_for_people(pascal: str, select: Select) -> None:
    """What to install, the bounds, and a reason per backend; a warning about several packages is given once."""
    said = select("resolve", "jax", "torch", "--machine", pascal, "--provider", "ours")
    jax, torch = (part.splitlines() for part in said.out.split("\n\n"))
    assert [line.split()[0] for line in jax] == ["chosen", "install", "install", "constraint", *["rejected"] * 3]
    assert [line.split()[1] for line in jax[:6]] == [
        "cuda12",
        "jax==1.2.3",
        JAXLIB,
        "nvidia-cudnn-cu12<9.11",
        "cpu",
        "cuda13",
    ]
    assert lacking(jax[-1], "tpu", "rocm7", "oneapi") == []
    odd, why = said.err.splitlines()
    assert (said.status, torch[1].split()[1], odd, "cuDNN" in why) == (0, "torch==2.14.*", "warning: odd", True)


@pytest.mark.parametrize(("version", "following"), [((3, 12, 1), "jaxlib-select install jax"), ((3, 10, 7), "venv")])
def test_the_next_step_can_be_taken(
    version: tuple[int, ...], following: str, select: Select, make_python: Callable[..., Path]
) -> None:
    """In the active environment, whose Python may be too old; that no index was read is said."""
    python = make_python(version)
    Path("venv/bin").mkdir(parents=True)
    python.rename("venv/bin/python")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRTUAL_ENV", str(Path("venv").absolute()))
        said = select("resolve", "jax", "--find-links", "dist")
    (step,) = (line for line in said.out.splitlines() if line.startswith("next "))
    assert (following in step, "3.10.7" in said.err, "note: " in said.err) == (True, version < (3, 11), True)


def test_decisions_are_printed_for_programs(pascal: str, select: Select) -> None:
    """One JSON document, in the order of the command."""
    document = json.loads(select("resolve", "torch", "--machine", pascal, "--json", "--backend", "torch=auto").out)
    assert document.items() >= {"package": "torch", "requirements": ["torch==2.14.*"], "warnings": ["odd"]}.items()
    assert document["index_url"] == "https://download.pytorch.org/whl/cu126"
    said = select("resolve", "torch", "jax", "--machine", pascal, "--json", "--provider", "ours")
    assert [entry["package"] for entry in json.loads(said.out)] == ["torch", "jaxlib-cuda-12"]


@pytest.mark.parametrize(
    "arguments",
    [
        "--backend cuda13 jax",
        "--backend cuda13 --backend torch=cpu JAX==1.2.3",
        "--backend torch=cpu --backend auto --backend jax=cuda13 jax",
        "--backend=cuda13 jax",
        "jax --backend cuda13",
    ],
)
def test_a_package_may_follow_the_backend(arguments: str, pascal: str, select: Select) -> None:
    """Or stand before it."""
    said = select("resolve", "--provider=ours", "--machine", pascal, *arguments.split())
    assert "install     jaxlib-cuda-13[with-cuda]==1.2.3+split.1" in said.out.splitlines()


def test_a_machine_comes_through_a_pipe(select: Select, monkeypatch: pytest.MonkeyPatch) -> None:
    """`detect --json | resolve jax --machine -`."""
    text = select("detect", "--json").out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert json.loads(select("resolve", "jax", "--machine", "-", "--json").out)["provider"] == "upstream"


@pytest.mark.parametrize("content", [None, b"\xff", b"{", b"[]", b'{"nvidia": {"gpus": 8}}'], ids=str)
def test_a_bad_machine_file_is_reported_briefly(content: bytes | None, select: Select) -> None:
    """In three lines at most, with its name and status 2."""
    if content is not None:
        Path("machine.json").write_bytes(content)
    said = select("resolve", "jax", "--machine", "machine.json")
    assert (said.status, "machine.json" in said.err, len(said.err.splitlines()) <= 3) == (2, True, True)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("jax --backend cuda14", 2),
        ("jax --backend cpu --backend tpu", 2),
        ("tensorflow", 2),
        ("jax==9.9", 1),
        ("jax --backend require-gpu --machine plain.json", 3),
    ],
)
def test_the_status_says_what_went_wrong(arguments: str, status: int, select: Select) -> None:
    """Usage 2, policy 3, anything else 1; a traceback only when debugging."""
    Path("plain.json").write_text("{}", "utf-8")
    for more, first in (((), "error:"), (("--debug",), "Traceback")):
        said = select("resolve", *arguments.split(), *more)
        assert (said.status, said.err.split()[0]) == (status, first)


def test_the_help_comes_without_a_subcommand(select: Select) -> None:
    """It lists every subcommand."""
    assert select() == select("--help") == select("-h")
    assert re.findall(r"^  (\w+)  ", select().out, re.MULTILINE) == list(COMMANDS)
    assert select("--version").out.split() == ["jaxlib-select", __version__]


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        ("insta jax", "install"),
        ("install jax --indx URL", "--index"),
        ("resolve jaxx", "jax"),
        ("resolve jax --backend cuda14", "cuda13"),
        ("resolve", ""),
    ],
)
def test_a_mistake_is_answered_with_the_nearest_word(arguments: str, nearest: str, select: Select) -> None:
    """As an error of this program's, never as argparse's usage; lists of names fit into 80 columns."""
    status, out, err = select(*arguments.split())
    assert (status, out, re.findall(r"did you mean '(.+)'\?", err)) == (2, "", [nearest] if nearest else [])
    assert max(map(len, err.splitlines())) <= 80


def test_a_machine_is_printed_for_people() -> None:
    """A line per vendor, with what decides; notes and variables below."""
    plain = Machine("linux", "x86_64", wsl=True, container="docker", libc="glibc 2.39", notes=("odd",))
    nvidia = Nvidia(None, "580.95.05", 803, (), None, "ok", ("10de:2684",))
    found = replace(plain, nvidia=nvidia, amd=Amd(None, ("gfx942",), accessible=False), intel=Intel(("8086:46a6",)))
    lines = format_machine(replace(found, visible={"CUDA_VISIBLE_DEVICES": "0"}))
    assert [line.split()[0] for line in lines] == ["system", "nvidia", "amd", "intel", "tpu", "set", "note"]
    values = ("WSL2", "docker", "glibc 2.39", "580.95.05", "803", "gfx942", "8086:46a6", "CUDA_VISIBLE_DEVICES=0")
    assert lacking("\n".join(lines), *values) == []
    assert {line.split()[1] for line in format_machine(Machine("linux", "x86_64"))[1:]} == {"none"}


@pytest.fixture
def run_select(root: Path) -> Select:
    """Return a function that runs the command as a program, in a shell's line that says `{}` for it."""

    def run(line: str, **variables: str) -> Said:
        environ = {**os.environ, "PYTHONPATH": str(root / "selector"), **variables}
        shell = ["bash", "-c", line.format(f"{shlex.quote(sys.executable)} -m jaxlib_select")]
        done = subprocess.run(shell, capture_output=True, text=True, check=False, env=environ)
        return Said(done.returncode, done.stdout, done.stderr)

    return run


def test_letters_that_the_terminal_lacks_are_escaped(run_select: Select, write_machine: WriteMachine) -> None:
    """As a name in any letters is under an old locale."""
    write_machine(nvidia_machine("G\xe9ant", (3, 5)))
    status, out, _ = run_select("{} resolve jax --machine machine.json", PYTHONIOENCODING="ascii")
    assert (status, "G\\xe9ant" in out) == (0, True)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mkdir gone; cd gone; rmdir ../gone; {} resolve torch --backend cpu > /dev/null", (0, "", "")),
        ("PYTHONUNBUFFERED=1 {} detect | exec true; exit ${{PIPESTATUS[0]}}", (0, "", "")),
        ("{} detect --json > /dev/full", (1, "", "error: [Errno 28] No space left on device\n")),
        ("{} resolve torch --backend cpu >&-", (0, "", "")),
        ("{} resolve jax --backend bogus 2>&-", (2, "", "")),
    ],
    ids=["deleted folder", "reader leaves", "disk full", "no stdout", "no stderr"],
)
def test_streams_and_folders_may_be_gone(line: str, expected: tuple[int, str, str], run_select: Select) -> None:
    """As schedulers start programs and pipes end; the interpreter adds nothing of its own."""
    assert run_select(line) == expected


def test_modules_that_are_not_needed_are_not_imported(root: Path) -> None:
    """Detection must start fast: none of the slow ones, and nothing about other subcommands."""
    slow = {"importlib.metadata", "urllib.request", "email", "pathlib", "typing"}
    others = {"jaxlib_select.facts", "jaxlib_select.choose.policy"}
    program = (
        f"import sys; sys.path.insert(0, {str(root / 'selector')!r}); from jaxlib_select.cli import main;"
        f"main(['detect']); print([name for name in {slow | others!r} if name in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-I", "-S", "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True, env={}).stderr == "[]\n"
