# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
# /// script
# dependencies = ["nox>=2026.10.20"]
# ///
"""Run a task: `./noxw NAME`. `./noxw` lists the everyday tasks, `./noxw -l` all sessions and commands.

Sessions run in the environments that noxw makes from the locks of this repository; nox makes none.
"""

import difflib
import importlib.machinery
import json
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import nox
import nox.registry
from nox.command import CommandFailed

nox.needs_version = ">=2026.10.20"
nox.options.default_venv_backend = "none"

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "build"))
from pjrtwheel.cli.commands import COMMANDS  # noqa: E402 - standard library only

__doc__ += "\nCommands, which `./noxw NAME` runs as well:\n\n"  # nox -l prints it
__doc__ += "".join(f"  {name:<16}{summary}\n" for name, summary in COMMANDS.items())
# After an interrupt, how long a program may take to remove its temporary files; nox's own limit is under a second.
WAIT_S = 10.0
PYTEST = ("python", "-m", "pytest")
PARALLEL = ("--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal")
UNIT = ("build/pjrtwheel", "selector/jaxlib_select", "tests/unit")
BACKENDS = sorted(path.parent.name for path in ROOT.glob("plugins/*/backend.toml"))
# What `./noxw` prints without a name.
EVERYDAY = {
    "make": ("build_cpu", "build_all", "release", "index"),
    "check": ("inspect", "smoke_cpu", "verify_release"),
    "publish": ("attest", "publish"),
    "package a plugin": ("probe", "wrap"),
    "develop": ("tests", "lint", "update"),
}


def _load_noxw() -> ModuleType:
    """Import the program next to this file, which makes the environments."""
    loader = importlib.machinery.SourceFileLoader("noxw", str(ROOT / "noxw"))
    module = ModuleType("noxw")
    module.__file__ = loader.path
    loader.exec_module(module)
    return module


NOXW = _load_noxw()


def _run(session: nox.Session, group: str, *command: str, within: str | Path = ROOT, **environ: str) -> None:
    """Run a program of an environment in a folder; it finds the others there as well."""
    NOXW.enter_bundle()
    folder = NOXW.provide_environment(group).parent
    path = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
    environ = {"PATH": path, "VIRTUAL_ENV": str(folder.parent)} | environ
    program = shutil.which(command[0], path=path) or command[0]
    with session.chdir(within):
        session.run(
            program, *command[1:], env=environ, external=True, interrupt_timeout=WAIT_S, terminate_timeout=WAIT_S
        )


def _find(*patterns: str) -> list[str]:
    """Return the files of the folders that hold source code, by their names."""
    folders = (ROOT, *(ROOT / name for name in ("build", "ci", "jaxlib", "plugins", "tests")))
    found = (folder.glob(pattern if folder == ROOT else f"**/{pattern}") for folder in folders for pattern in patterns)
    return sorted(str(path.relative_to(ROOT)) for paths in found for path in paths)


C_FILES = _find("*.[ch]")
STARLARK = ("npm", "exec", "--yes", "--prefer-offline", "--", "@bazel/buildifier@8.2.1")
WORKFLOWS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(".github/workflows/*.yml"))
STARLARK_FILES = _find("*.bzl", "BUILD.bazel", "WORKSPACE")
# Name → command of everything that `lint` checks, and that a commit has to pass (.pre-commit-config.yaml).
CHECKS = {
    "ruff": ("ruff", "check"),
    "format": ("ruff", "format", "--check"),
    "types": ("mypy",),
    "c": ("clang-format", "--dry-run", "--Werror", *C_FILES),
    "starlark": (*STARLARK, "-mode=check", *STARLARK_FILES),
    "shell": ("shellcheck", ".ci/run"),
    "markdown": ("rumdl", "check", "--quiet", "--no-cache", "."),
    "spelling": ("codespell", "--dictionary=-", "--dictionary=ci/words.txt"),  # misspelt words, and ours to avoid
    "workflows": ("check-jsonschema", "--quiet", "--builtin-schema=vendor.github-workflows", *WORKFLOWS),
    "dependabot": ("check-jsonschema", "--quiet", "--builtin-schema=vendor.dependabot", ".github/dependabot.yml"),
    "security": ("zizmor", "--offline", "--quiet", "--persona=auditor", ".github"),
}
# Name → command that writes the files as these checks want them.
FORMATTERS = {
    "ruff": ("ruff", "check", "--fix"),
    "format": ("ruff", "format"),
    "c": ("clang-format", "-i", *C_FILES),
    "starlark": (*STARLARK, "-mode=fix", *STARLARK_FILES),
    "markdown": ("rumdl", "fmt", "--no-cache", "."),
}


def _run_named(session: nox.Session, commands: dict[str, tuple[str, ...]]) -> None:
    """Run all commands of a table, or those named; npm brings buildifier, and may be missing."""
    for name in session.posargs or commands:
        if name not in commands:
            session.error(f"unknown name: {name!r}; known: {', '.join(commands)}")
        if commands[name][0] == "npm" and "CI" not in os.environ and not shutil.which("npm"):
            session.warn(f"{name} is not checked: there is no npm on PATH")
        else:
            _run(session, "lint", *commands[name])


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, formatting, types, Markdown and workflows: [NAME]..."""
    _run_named(session, CHECKS)


@nox.session(default=False, name="format")
def write_format(session: nox.Session) -> None:
    """Format Python, C, Starlark and Markdown as lint wants them: [NAME]..."""
    _run_named(session, FORMATTERS)


@nox.session
def unit(session: nox.Session) -> None:
    """Run the unit tests, without network, Bazel or compiler: [ARGUMENT OF PYTEST]..."""
    _run(session, "tests", *PYTEST, *PARALLEL, *UNIT, *session.posargs)


@nox.session(default=False)
def tests(session: nox.Session) -> None:
    """Run all tests except the slow ones, with coverage; or only those named: [ARGUMENT OF PYTEST]..."""
    if session.posargs:
        _run(session, "tests", *PYTEST, *session.posargs)
    else:
        options = ("-m", "not slow", "--durations=30", "--cov", "--cov-report=term:skip-covered")
        data = str(session.cache_dir / "coverage")
        _run(session, "tests", *PYTEST, *PARALLEL, *options, COVERAGE_FILE=data)


@nox.session(default=False)
def slow(session: nox.Session) -> None:
    """Run the tests that need servers, a browser, act, Debian, an executor, several builds or releases: [PATH]..."""
    paths = session.posargs or ("tests/integration", "tests/workflows")
    _run(session, "tests", *PYTEST, "-m", "slow", "--durations=20", *paths)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Try a million mutated inputs on the readers of untrusted input: [ARGUMENT OF PYTEST]..."""
    _run(session, "tests", *PYTEST, *PARALLEL, "tests/unit/fuzz", *session.posargs, FUZZ_INPUTS="1000000")


def _run_docs(session: nox.Session, *arguments: str) -> None:
    path = os.pathsep.join(str(ROOT / folder) for folder in ("build", "selector"))
    command = ("python", "-P", "-m", "pjrtwheel.docs", "--root", str(ROOT), *arguments)
    _run(session, "tests", *command, within=session.invoked_from, PYTHONPATH=path)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation in site/: [linkcheck|plugins]."""
    _run_docs(session, *session.posargs)


BENCHMARKS = {"assemble": "assemble.py", "cpu": "cpu_client.py", "detect": "detect.py"}


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure against the standard tools: assemble|cpu|detect [OPTION]..."""
    name, *options = session.posargs or [""]
    if name not in BENCHMARKS:
        session.error(f"name a benchmark: {', '.join(BENCHMARKS)}")
    program = str(ROOT / "benchmarks" / BENCHMARKS[name])
    _run(session, "build", "python", program, *options, within=session.invoked_from, PYTHONPATH=str(ROOT / "build"))


@nox.session(default=False)
def debian(session: nox.Session) -> None:
    """Run a command in a Debian root: [--suite S] [--architecture A] [--package P]... [--write DIR]... COMMAND."""
    command = ("python", str(ROOT / "ci/debian.py"), *session.posargs)
    _run(session, "build", *command, within=session.invoked_from, PYTHONPATH=str(ROOT / "build"))


def _update_locks(session: nox.Session) -> None:
    """Write the hashed closures of dependency groups; each takes the versions of those before it.

    The servers, which are particular about theirs, come early.
    """
    compiling = ("uv", "pip", "compile", "--universal", "--python-version=3.11", "--generate-hashes")
    written: list[str] = []
    for group, name in LOCKS.items():
        options = ["--no-annotate", "--no-strip-extras", "--quiet", f"--group={group}", f"--output-file={name}"]
        constraints = [f"--constraints={lock}" for lock in written]
        _run(session, "build", *compiling, *options, *constraints, UV_CUSTOM_COMPILE_COMMAND="./noxw update locks")
        written.append(name)


LOCKS = {
    "assemble": "build/requirements.txt",
    "nox": NOXW.LOCKS["nox"],
    **{group: f"build/locks/{group}.txt" for group in ("index_servers", "build", "tests", "lint")},
}


@nox.session(default=False)
def update(session: nox.Session) -> None:
    """Write the generated files: [locks] [facts] [docs] [transcripts]."""
    for name in session.posargs or ("locks", "facts", "docs", "transcripts"):
        if name == "locks":
            _update_locks(session)
        elif name == "facts":
            _run_command(session, ["facts"])
        elif name == "docs":
            _run_docs(session, "update")
        elif name == "transcripts":
            path = os.pathsep.join(str(ROOT / folder) for folder in ("build", "selector", "tests/support"))
            _run(session, "tests", "python", "tests/support/transcripts.py", PYTHONPATH=path)
        else:
            session.error(f"unknown name: {name!r}; known: locks, facts, docs, transcripts")


def _run_command(session: nox.Session, words: Sequence[str]) -> None:
    """Run a command of pjrtwheel in the folder that nox was called in, and end as it does if it fails."""
    try:
        with session.chdir(session.invoked_from):
            command = (sys.executable, str(ROOT / "noxw"), *words)
            session.run(*command, external=True, interrupt_timeout=WAIT_S, terminate_timeout=WAIT_S)
    except CommandFailed as error:
        sys.exit(error.return_code or 1)


WITHOUT_BACKEND = {"build_all": "every backend of a release", "build_jaxlib": "jaxlib alone", "release": ""}


def _add_command(name: str) -> None:
    """Define a session that runs one command of pjrtwheel."""

    def run(session: nox.Session) -> None:
        _run_command(session, [name, *session.posargs])

    which = WITHOUT_BACKEND.get(name, name.partition("_")[2])
    run.__doc__ = COMMANDS[NOXW.find_command(name)[0]].replace("backends", which)
    nox.session(name=name, default=False)(run)


for _verb in ("build", "smoke"):
    for _backend in BACKENDS:
        _add_command(f"{_verb}_{_backend}")
for _name in ("build_jaxlib", "build_all", "release"):
    _add_command(_name)


def _summarize(name: str) -> str:
    """Return the description of a session or a command."""
    session = nox.registry.get().get(name)
    text = session.func.__doc__ or "" if session else COMMANDS[name]
    return text if text.endswith("...") else text.removesuffix(".")


def _print_tasks() -> None:
    for group, names in EVERYDAY.items():
        print(f"{group}:")
        for name in names:
            summary = _summarize(name).partition(": [")[0]  # without arguments
            line = f"  ./noxw {name:<15} {summary[0].lower()}{summary[1:]}"
            print(textwrap.fill(line, 80, subsequent_indent=" " * 25))
    print("all sessions and commands: ./noxw -l; the options of one: ./noxw NAME --help")


def _print_usage(name: str) -> None:
    summary, _, arguments = _summarize(name).rpartition(": ")
    print(f"usage: ./noxw {name} {arguments}\n\n{summary}")


def main(options: str, words: Sequence[str]) -> None:
    """Become nox for the session of a name; without a name print the everyday tasks."""
    if not words:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # its reader may be `head`
        _print_tasks()
        return
    name, *arguments = words
    known = dict.fromkeys([*nox.registry.get(), *COMMANDS])
    if name not in known:
        nearest = difflib.get_close_matches(name, known)
        print(f"error: unknown session or command: {name}", file=sys.stderr)
        print(*(f"       did you mean {' or '.join(nearest)}?\n" for _ in nearest[:1]), sep="", end="", file=sys.stderr)
        print("       all sessions and commands: ./noxw -l", file=sys.stderr)
        sys.exit(3)
    if arguments in (["--help"], ["-h"]) and not (name == "debian" or NOXW.find_command(name)):
        _print_usage(name)
        return
    command = [sys.executable, "-P", "-m", "nox", *json.loads(options), "--session", name]
    os.execv(sys.executable, [*command, "--", *arguments])  # noqa: S606 - an argument list


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
