# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The commands `detect` and `resolve`: what they print where, and how they end."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select.cli import COMMANDS, main
from jaxlib_select.cli.detect import format_machine
from jaxlib_select.machine.file import to_json
from jaxlib_select.machine.model import Amd, Intel, Machine, Nvidia, NvidiaGpu
from machines import PASCAL

pytestmark = pytest.mark.usefixtures("quiet_place")


@pytest.fixture
def pascal(tmp_path: Path) -> str:
    """Return a machine file."""
    path = tmp_path / "pascal.json"
    path.write_text(json.dumps(to_json(PASCAL)), "utf-8")
    return str(path)


def test_a_decision_is_printed_for_people(pascal: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What to install, the bounds, and a reason per backend."""
    assert main(["resolve", "jax", "--machine", pascal]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "chosen      cuda12  has code for GTX 1080 Ti (compute capability 6.1), and the driver serves CUDA 12.4",
        "install     jax==1.2.3",
        "install     jaxlib-cuda-12[with-cuda]==1.2.3+split.1",
        "constraint  nvidia-cudnn-cu12<9.11",
        "rejected    cpu     runs on every machine, but cuda12 is faster",
        "rejected    cuda13  has no code for GTX 1080 Ti (compute capability 6.1)",
        "rejected    tpu, rocm7, oneapi: no such hardware was found",
    ]
    assert err == ""


def test_a_decision_is_printed_for_programs(pascal: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON document, and nothing else anywhere."""
    assert main(["resolve", "torch", "--machine", pascal, "--json", "--backend", "torch=auto", "jax=tpu"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["package"], document["index_url"], document["requirements"], err) == (
        "torch",
        "https://download.pytorch.org/whl/cu126",
        ["torch==2.14.*"],
        "",
    )


def test_several_packages_are_decided_about(pascal: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other, in the order of the command; a warning about both is given once."""
    document = json.loads(Path(pascal).read_text("utf-8"))
    Path(pascal).write_text(json.dumps({**document, "notes": ["odd"]}), "utf-8")
    assert main(["resolve", "jax", "torch", "--machine", pascal]) == 0
    out, err = capsys.readouterr()
    parts = [part.splitlines()[1] for part in out.split("\n\n")]
    assert (parts, err) == (["install     jax==1.2.3", "install     torch==2.14.*"], "warning: odd\n")
    assert main(["resolve", "torch", "jax", "--machine", pascal, "--json"]) == 0
    assert [entry["package"] for entry in json.loads(capsys.readouterr().out)] == ["torch", "jaxlib-cuda-12"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--backend", "cuda13", "jax"],
        ["--backend", "cuda13", "JAX==1.2.3"],
        ["--backend", "cuda13", "torch=cpu", "jax"],
        ["--backend", "torch=cpu", "auto", "--backend", "jax=cuda13", "jax"],
        ["--backend=cuda13", "jax"],
        ["jax", "--backend", "cuda13"],
    ],
)
def test_a_package_may_follow_the_backend(
    arguments: list[str], pascal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the most natural order of words, though `--backend` takes several values."""
    assert main(["resolve", "--machine", pascal, *arguments]) == 0
    assert "install     jaxlib-cuda-13[with-cuda]==1.2.3+split.1" in capsys.readouterr().out.splitlines()


def test_a_machine_comes_through_a_pipe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`detect --json | resolve jax --machine -`."""
    assert main(["detect", "--json"]) == 0
    text = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["resolve", "jax", "--machine", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["package"].startswith("jaxlib-")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (None, "No such file"),
        (b"\xff", "machine.json"),
        (b"{", "JSON"),
        (b"[]", "[]"),
        (b'{"nvidia": {"gpus": 8}}', "nvidia.gpus is 8"),
    ],
)
def test_a_bad_machine_file_is_reported_briefly(
    content: bytes | None, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In three lines at most, with its name and status 2."""
    if content is not None:
        Path("machine.json").write_bytes(content)
    assert main(["resolve", "jax", "--machine", "machine.json"]) == 2
    err = capsys.readouterr().err
    assert ("machine.json" in err, named in err, len(err.splitlines()) <= 3) == (True, True, True)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["resolve", "jax", "--backend", "cuda14"], 2),
        (["resolve", "jax", "--backend", "cpu", "--backend", "tpu"], 2),
        (["resolve", "tensorflow"], 2),
        (["resolve", "jax==9.9"], 1),
        (["resolve", "jax", "--backend", "require-gpu", "--machine", "plain.json"], 3),
    ],
)
def test_the_status_says_what_went_wrong(arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Usage 2, policy 3, anything else 1; a traceback only when debugging."""
    Path("plain.json").write_text("{}", "utf-8")
    assert main(arguments) == status
    assert capsys.readouterr().err.startswith("error: ")
    assert main([*arguments, "--debug"]) == status
    assert capsys.readouterr().err.startswith("Traceback")


@pytest.mark.parametrize(("arguments", "status"), [(["--version"], 0), (["--help"], 0), ([], 2), (["what"], 2)])
def test_help_and_mistakes_come_without_a_subcommand(
    arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """As argparse does it, with every subcommand in the help."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == status
    text = "".join(capsys.readouterr())
    assert "jaxlib-select" in text
    assert "--help" not in arguments or set(re.findall(r"^  (\w+)  ", text, re.MULTILINE)) == set(COMMANDS)


def test_a_machine_is_printed_for_people() -> None:
    """A line per vendor, with what decides; notes and variables below."""
    machine = Machine(
        "linux",
        "x86_64",
        wsl=True,
        nvidia=Nvidia(None, "580.95.05", 803, (), None, "ok", ("10de:2684",)),
        amd=Amd(None, ("gfx942",), accessible=False),
        intel=Intel(("8086:46a6",)),
        container="docker",
        libc="glibc 2.39",
        visible={"CUDA_VISIBLE_DEVICES": "0"},
        notes=("odd",),
    )
    lines = format_machine(machine)
    assert [line.split()[0] for line in lines] == ["system", "nvidia", "amd", "intel", "tpu", "set", "note"]
    values = ("WSL2", "docker", "glibc 2.39", "580.95.05", "803", "gfx942", "8086:46a6", "CUDA_VISIBLE_DEVICES=0")
    assert [value for value in values if value not in "\n".join(lines)] == []
    assert {line.split()[1] for line in format_machine(Machine("linux", "x86_64"))[1:]} == {"none"}
    assert format_machine(PASCAL)[1] == "nvidia  GTX 1080 Ti (compute capability 6.1); CUDA 12.4"


def test_a_reader_that_leaves_early_is_no_error(root: Path) -> None:
    """As in `jaxlib-select detect | head -1`."""
    program = f"exec {shlex.quote(sys.executable)} -m jaxlib_select detect | exec true; exit ${{PIPESTATUS[0]}}"
    environ = {**os.environ, "PYTHONPATH": str(root / "selector"), "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False, env=environ)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def run_select(root: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs the command as a program, in a shell's line that says `{}` for it."""

    def run(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": str(root / "selector"), **variables}
        command = f"{shlex.quote(sys.executable)} -m jaxlib_select"
        shell = ["bash", "-c", line.format(command)]
        return subprocess.run(shell, capture_output=True, text=True, check=False, env=environ)

    return run


def test_letters_that_the_terminal_lacks_are_escaped(run_select: Callable[..., Any]) -> None:
    """As a name in any letters is under an old locale."""
    giant = Machine("linux", "x86_64", nvidia=Nvidia((13, 0), cuinit=0, gpus=(NvidiaGpu((3, 5), "G\xe9ant"),)))
    Path("machine.json").write_text(json.dumps(to_json(giant)), "utf-8")
    done = run_select("{} resolve jax --machine machine.json", PYTHONIOENCODING="ascii")
    assert (done.returncode, "G\\xe9ant" in done.stdout) == (0, True)


def test_a_folder_that_was_deleted_is_no_obstacle(run_select: Callable[..., Any], shipped_release: str) -> None:
    """There is no pyproject.toml then."""
    done = run_select(f"mkdir gone; cd gone; rmdir ../gone; {{}} resolve jax=={shipped_release} --backend cpu")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a full disk")
def test_a_full_disk_is_one_line(run_select: Callable[..., Any]) -> None:
    """The interpreter adds nothing of its own when it ends."""
    done = run_select("{} detect --json > /dev/full")
    assert (done.returncode, done.stderr) == (1, "error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize(
    ("line", "status", "out", "err"),
    [
        ("{} resolve torch --backend cpu >&-", 0, "", ""),
        ("{} resolve jax --backend bogus 2>&-", 2, "", ""),
        ("{} resolve jax --machine - <&-", 2, "", "error: cannot read standard input\n       it is closed\n"),
    ],
    ids=["stdout", "stderr", "stdin"],
)
def test_a_stream_may_be_closed(
    line: str, status: int, out: str, err: str, run_select: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """As some schedulers start programs."""
    done = run_select(line)
    assert (done.returncode, done.stdout, done.stderr) == (status, out, err)


def test_modules_that_are_not_needed_are_not_imported(root: Path) -> None:
    """Detection must start fast: none of the slow ones, and nothing about other subcommands."""
    slow = [
        "importlib.metadata",
        "urllib.request",
        "email",
        "pathlib",
        "typing",
        "jaxlib_select.facts",
        "jaxlib_select.choose.policy",
    ]
    program = (
        f"import sys; sys.path.insert(0, {str(root / 'selector')!r}); from jaxlib_select.cli import main;"
        f"main(['detect']); print([name for name in {slow!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True, env={}
    )
    assert done.stderr == "[]\n"
