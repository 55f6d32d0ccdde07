# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Every command that the documentation shows is one that there is, with options that it takes.

A session's arguments are read by the session's own parser; those of `jaxlib-select` by its. Blocks that say so also run
(tests/integration/test_console_blocks.py).
"""

from __future__ import annotations

import ast
import re
import subprocess
from argparse import REMAINDER
from pathlib import Path

import pytest
from nox._options import options
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from console_blocks import Block, find_blocks, find_inline, simple_commands, strip_variables
from jaxlib_select.cli import COMMANDS as SELECT_COMMANDS
from jaxlib_select.cli import parse_command
from pjrtwheel.backend import load_backends
from pjrtwheel.cli import COMMANDS, PROGRAM, make_parser
from pjrtwheel.errors import UsageError
from pjrtwheel.reference.sessions import Session, load_sessions
from pjrtwheel.reference.variables import list_variables

ROOT = Path(__file__).resolve().parents[3]
SESSIONS = load_sessions(ROOT)
BACKENDS = load_backends(ROOT)
TAGS = {session.tag for session in SESSIONS.values()}
VARIABLES = {variable.name for variables in list_variables(ROOT).values() for variable in variables}
# Backends that pages invent for a vendor.
INVENTED = ("abacus", "foo")
# Programs of others; a name that is not here may be a slip.
PROGRAMS = {
    *("pip", "uv", "git", "gh", "pypi-attestations", "sha256sum", "openssl", "pre-commit", "pipx"),
    *("cd", "cat", "cp", "ls", "mkdir", "rm", "echo", ".", "source", "test", "unshare", "ip", "sudo", "docker", "curl"),
    *(
        "scp",
        "rsync",
        "ssh",
        "srun",
        "sbatch",
        "apptainer",
        "podman",
        "nginx",
        "tar",
        "env",
        "unset",
        "module",
        "twine",
    ),
}
# Why a command of ours in a block that does not run is only parsed: the test that runs it for real, or what it needs.
PARSED = {
    "attest": "tests/integration/test_attest.py",
    "auto": "tests/integration/test_auto_uv.py",
    "build": "tests/integration/test_build.py",
    "bump": "tests/integration/test_bump.py",
    "bundle": "tests/integration/test_bundle.py",
    "clean": "tests/unit/bazel/test_clean.py",
    "conformance": "tests/integration/test_conformance_run.py",
    "facts": "tests/unit/products/test_facts.py",
    "index": "tests/integration/test_index_http.py",
    "inspect": "tests/integration/test_inspect_wheels.py",
    "merge": "tests/unit/dist_folder/test_merge.py",
    "pin": "tests/integration/test_pin.py",
    "probe": "tests/integration/test_inspect_wheels.py",
    "publish": "tests/integration/test_publish_devpi.py",
    "release": "tests/unit/test_release_plan.py",
    "release_check": "tests/integration/test_release_check.py",
    "reproduce": "tests/unit/attest/test_reproduce.py",
    "select": "tests/integration/test_select_wheel.py",
    "sizes": "tests/unit/release_check/test_sizes.py",
    "smoke": "tests/integration/test_smoke_record.py",
    "verify_installs": "tests/integration/test_verify_installs.py",
    "verify_release": "tests/unit/attest/test_verify_release.py",
    "yank": "tests/unit/publish/test_yank.py",
    "jaxlib-select apply": "tests/integration/select_install/test_locks.py",
    "jaxlib-select detect": "tests/integration/test_select_libcuda.py",
    "jaxlib-select doctor": "tests/integration/test_select_doctor.py",
    "jaxlib-select install": "tests/integration/select_install/test_install.py",
    "jaxlib-select lock": "tests/integration/select_install/test_locks.py",
    "jaxlib-select resolve": "tests/integration/test_select_libcuda.py",
    "python -m jaxlib_abacus": "tests/integration/test_new_backend.py",
    "python -m jaxlib_cpu": "tests/integration/test_no_label.py",
    **{
        f"python -m {backend.package}": "needs the libraries of a vendor"
        for backend in BACKENDS.values()
        if not backend.is_cpu
    },
    "debian_arm64": "needs root and an emulator",
    "debian_bazel": "needs root and debootstrap",
    "debian_python": "needs root and debootstrap",
    "fuzz": "tests/unit/fuzz/test_fuzz.py",
    "lint": "runs by itself, in CI",
    "lock_tools": "needs the package index, and changes the locks",
    "shutdown": "would end the servers of those who run the tests",
    "tests": "is what runs",
    "unit": "is what runs",
    "update_measures": "needs upstream's wheels",
    "workflows": "takes half an hour",
}
MODULES = {"venv", "http.server", "pip", "build", "zipfile"}
PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+t?)?)?(?:\.exe)?")


def documents() -> list[Path]:
    """Return all Markdown that people read; the changelog also names what is gone."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [ROOT / name for name in listed if name != "CHANGELOG.md" and (ROOT / name).is_file()]


BLOCKS = [block for path in documents() for block in find_blocks(path)]
INLINE = sorted({command for path in documents() for command in find_inline(path) if " SESSION" not in command})


def find_session(name: str) -> Session:
    """Return a session; that of a vendor's backend is like those of all backends."""
    kind, _, backend = name.partition("_")
    if backend in {*INVENTED, "BACKEND", "<backend>", "NAME"} and f"{kind}_cpu" in SESSIONS:
        return SESSIONS[f"{kind}_cpu"]
    assert name in SESSIONS, f"there is no session {name}"
    return SESSIONS[name]


def sessions_of(words: list[str]) -> list[Session]:
    """Return the sessions that options of nox name, as nox itself reads them."""
    given = vars(options.parser().parse_args(words))
    assert not given.get("posargs"), f"arguments of a session come after --: {' '.join(words)}"
    assert set(given.get("tags", ())) <= TAGS
    return [find_session(name) for name in given.get("sessions", ())]


def check_nox(words: list[str]) -> None:
    """Read options with nox's own parser, and arguments with those of the sessions."""
    before, arguments = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    for session in sessions_of(before):
        session.parse(arguments)


def check_python(words: list[str]) -> None:
    """Look at what a Python is to run: a module of ours, of others, or a script of this repository."""
    match words:
        case ["-m", "pjrtwheel", command, *arguments] if not command.startswith("-"):
            assert command in COMMANDS
            make_parser(command).parse_args(arguments)
        case ["-m", "jaxlib_select", *arguments]:
            check_select(arguments)
        case ["-m", module, *arguments] if module.startswith("jaxlib_"):
            packages = {backend.package for backend in BACKENDS.values()} | {f"jaxlib_{name}" for name in INVENTED}
            assert module in packages
            assert set(arguments) <= {"--json", "--no-open"}
        case ["-m", module, *_]:
            assert module in MODULES or module.split(".")[0] == "pjrtwheel"
        case ["-c", code, *_]:
            compile(code, "-c", "exec")
        case [script, *_] if script.startswith(("ci/", "tests/", "benchmarks/", "build/")):
            assert (ROOT / script).is_file()


def check_select(arguments: list[str]) -> None:
    """Read the arguments of `jaxlib-select` as it does."""
    if arguments[0] not in {"--version", "--help"}:
        assert arguments[0] in SELECT_COMMANDS
        if "--help" not in arguments:
            parse_command(arguments[0], arguments[1:])


def check_requirements(words: list[str]) -> None:
    """Look at the names and extras of our wheels in what an installer is given."""
    extras = {backend.distribution: set(backend.extras) for backend in BACKENDS.values()}
    extras["jaxlib"] = {extra for backend in BACKENDS.values() for extra in backend.jaxlib_extras}
    extras |= {"jaxlib-select": set(), "jaxlib-auto": set()} | {f"jaxlib-{name}": set() for name in INVENTED}
    for word in words:
        try:
            requirement = Requirement(word)
        except InvalidRequirement:
            continue
        name = canonicalize_name(requirement.name)  # a module's name, too
        if name.startswith("jaxlib"):
            assert name in extras
            assert requirement.extras <= extras[name]


def check_command(words: list[str]) -> None:
    """Fail if a command could not be meant as it stands."""
    names, words = strip_variables(words)
    ours = {name for name in names if name.startswith(("PJRTWHEEL_", "JAXLIB_"))}
    selected = {name for name in ours if name.startswith("JAXLIB_SELECT_BACKEND_")}
    disabling = {f"JAXLIB_{name.upper()}_DISABLE" for name in INVENTED}
    assert ours - selected <= VARIABLES | disabling, "see pjrtwheel.reference.variables"
    match words:
        case [] | ["unset", *_]:
            pass
        case ["./noxw" | "nox", *rest]:
            check_nox(rest)
        case [program, *rest] if program.endswith("jaxlib-select"):
            check_select(rest)
        case [program, *rest] if PYTHON.fullmatch(program):
            check_python(rest)
        case [program, *rest]:
            assert program.rpartition("/")[2] in PROGRAMS, f"no program of ours, and none that is listed: {program}"
            check_requirements(rest)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_the_commands_of_a_block_are_understood(block: Block) -> None:
    """An option that was renamed, or a session, is found here."""
    assert block.commands
    for command, _ in block.commands:
        for words in simple_commands(command):
            check_command(words)


def subject_of(words: list[str]) -> list[str]:
    """Return what of ours a command runs: a command of the tooling, a session, or a program that wheels bring."""
    _, words = strip_variables(words)
    match words:
        case ["./noxw" | "nox", *rest]:
            sessions = sessions_of(rest[: rest.index("--")] if "--" in rest else rest)
            started = {session.name: session.program.partition(f"{PROGRAM} ")[2] for session in sessions}
            return [command or name for name, command in started.items()]
        case [program, command, *_] if program.endswith("jaxlib-select"):
            return [f"jaxlib-select {command}"]
        case [program, "-m", module, *_] if PYTHON.fullmatch(program) and module.startswith("jaxlib_"):
            return [f"python -m {module}"]
    return []


def test_what_is_only_parsed_has_a_reason() -> None:
    """Either another test runs that command for real, or it needs what a test does not have."""
    parsed = {
        subject
        for block in BLOCKS
        if not block.setup
        for command, _ in block.commands
        for words in simple_commands(command)
        for subject in subject_of(words)
    }
    assert len(parsed) > 20
    assert parsed - PARSED.keys() == set()
    files = {subject: ROOT / reason for subject, reason in PARSED.items() if reason.startswith("tests/")}
    word = {subject: subject.rpartition(" ")[2] for subject in files}
    assert [subject for subject, path in files.items() if word[subject] not in path.read_text("utf-8")] == []


def find_shown(test: Path) -> set[tuple[str, str]]:
    """Return page and beginning of a command wherever a test file, or the conftest.py next to it, calls `shown`."""
    files = [test, test.parent / "conftest.py"]
    calls = (node for path in files if path.is_file() for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    found = set()
    for call in calls:
        match call:
            case ast.Call(
                func=ast.Name("shown"), args=[ast.BinOp(right=ast.Constant(str(page))), ast.Constant(str(start)), *_]
            ):
                found.add((page, start))
    return found


def test_what_is_shown_is_compared() -> None:
    """Where a block runs, or by the test that it names, which looks for the page."""
    printing = [block for block in BLOCKS if any(printed for _, printed in block.commands)]
    assert len(printing) > 5
    assert [block.name for block in printing if not (block.setup or block.test)] == []
    for block in (block for block in BLOCKS if block.test):
        page, asked = str(block.path.relative_to(ROOT)), find_shown(ROOT / block.test)
        for command in (command for command, printed in block.commands if printed):
            assert any(page == name and command.startswith(start) for name, start in asked), f"{block.name}: {command}"


def test_there_are_blocks_to_look_at() -> None:
    """Of the README, the guides, and what is on the package index."""
    assert len(BLOCKS) > 30
    assert {"README.md", "CONTRIBUTING.md"} <= {block.path.name for block in BLOCKS}
    assert len(INLINE) > 20


@pytest.mark.parametrize("command", INLINE)
def test_sessions_in_sentences_are_there(command: str) -> None:
    """With options that they take; values and what may be left out are for readers."""
    _, _, rest = command.partition(" ")
    before, _, arguments = rest.partition(" -- ")
    words = [word for word in before.split() if not word.startswith("[")]
    sessions = sessions_of([word.rstrip("….") for word in words])
    for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", arguments):
        for session in sessions:
            parser = session.parser
            if parser is not None and not any(action.nargs == REMAINDER for action in parser._actions):
                assert option in parser._option_string_actions


@pytest.mark.parametrize(
    "command",
    [
        "./noxw -s build_cqu",
        "./noxw -s build_cpu -- --relase 1.2.3",
        "./noxw -s build_cpu --no-smoke",
        "./noxw -s merge -- dist",
        "./noxw -t wheels",
        "./noxw --lsit",
        "jaxlib-select resolv jax",
        "jaxlib-select resolve jax --jsno",
        "python -m jaxlib_cuda",
        "python -m pjrtwheel no_such_command",
        "python ci/no_such_file.py",
        "python -c 'import jax; print('",
        "pip install jax jaxlib-cuda13",
        "pip install 'jaxlib-cuda-13[cuda]'",
        "PJRTWHEEL_CASHE=/tmp ./noxw -l",
        "export JAXLIB_CUDA13_DISABLE=1",
        "jaxlib-selct doctor",
    ],
)
def test_slips_are_found(command: str) -> None:
    """Of every kind that pages could have."""
    (words,) = simple_commands(command)
    with pytest.raises((AssertionError, SyntaxError, SystemExit, UsageError, ValueError)):
        check_command(words)
