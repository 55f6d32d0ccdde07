# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
# /// script
# dependencies = ["nox>=2026.10.20"]
# ///
"""What can be done here: `nox -l` lists it. Decisions about wheels live in build/pjrtwheel, which has tests."""

from __future__ import annotations

import contextlib
import difflib
import functools
import itertools
import logging
import os
import re
import runpy
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import nox
from nox._options import NoxConfig, options  # it has no public way to ask what it was asked for
from nox.command import CommandFailed

nox.needs_version = ">=2026.10.20"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"

ROOT = Path(__file__).resolve().parent
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
# After an interrupt, how long a program may take to remove its temporary files; nox's own limit is under a second.
PATIENCE_S = 10.0
# A file of tests stays in one process, as what they share is large.
PARALLEL = ("--numprocesses=auto", "--maxprocesses=4", "--dist=loadfile")
MEASURED = ("build/pjrtwheel", "selector", "plugins")
UNIT = ("build/pjrtwheel", "selector/jaxlib_select", "tests/unit")
# Dependency group → its hashed closure (`nox -s lock_tools`). Each takes the versions of those before it, so that the
# servers, which are particular about theirs, come early.
LOCKS = {
    "assemble": "build/requirements.txt",
    "nox": "build/nox_requirements.txt",
    **{
        group: f"build/locks/{group}.txt"
        for group in ("docs", "index_servers", "build", "tests", "lint", "bench", "lock")
    },
}
BACKENDS = sorted(path.parent.name for path in ROOT.glob("plugins/*/backend.toml"))


def _read_options(words: Iterable[str]) -> NoxConfig:
    """Return what nox is asked for, by its words before `--` and by variables such as NOXSESSION."""
    return options.expand(options.parser().parse_args([*itertools.takewhile(lambda word: word != "--", words)]))


ASKED = _read_options(sys.argv[1:])
# What nox says of its own doings, which nobody looks for unless they fail.
HOUSEKEEPING = re.compile(
    r"Running session environment_|Session environment_\S+ was successful|\* environment_\S+: success"
    r"|(Creating|Reusing existing) virtual environment|(uv|python -m) pip install|uv binary not found"
)


def _asked_sessions(asked: NoxConfig) -> list[str]:
    """Return the sessions that are asked for by name, or by a tag, which counts more; none for an expression."""
    if asked.keywords:
        return []
    if asked.tags is not None:
        return [name for name, function in nox.registry.get().items() if set(function.tags) & set(asked.tags)]
    return list(asked.sessions or ())


def _is_wanted(record: logging.LogRecord) -> bool:
    """Return whether a line of nox's is worth reading: none is about a single command that speaks for itself."""
    message = record.getMessage()
    if asks_one() and re.match(r"Running session |Ran \d+ sessions|\* |Session \S+ was successful", message):
        return False
    return not HOUSEKEEPING.match(message)


def asks_one() -> bool:
    """Return whether a single session was asked for, and one that runs a command of the tooling."""
    return len(asked := _asked_sessions(ASKED)) == 1 and asked[0] in {*COMMANDS, *DEBIAN}


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Let nox repeat neither a command nor that it failed: whoever prints to the terminal meanwhile has said why."""
    logger = logging.getLogger("nox")
    before = logger.level
    logger.setLevel(before if ASKED.verbose else logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _install(session: nox.Session, group: str) -> None:
    """Install one dependency group of pyproject.toml by its lock, if it has one; nothing happens when it is there."""
    lock = ROOT / LOCKS.get(group, "")
    if lock.is_file():
        session.install("--quiet", "--require-hashes", "--only-binary=:all:", "--requirement", str(lock))
    else:
        session.install("--quiet", *nox.project.dependency_groups(PYPROJECT, group))


def _note(session: nox.Session, group: str) -> Path:
    """Return the file that says where a shared environment is: sessions that nox runs in parallel share no memory."""
    return session.cache_dir / f"environment_{group}"


def _add_environment(group: str) -> str:
    """Define a session that makes the environment of a group, and return its name, for those that require it."""

    def make(session: nox.Session) -> None:
        _install(session, group)
        note, folder = _note(session, group), str(Path(session.bin).absolute())
        if not note.is_file() or note.read_text() != folder:
            note.write_text(folder)

    name = f"environment_{group}"
    make.__doc__ = f"Make the environment that all sessions with the dependency group {group!r} share."
    nox.session(name=name, default=False)(make)
    return name


# How a session is declared that runs in such an environment instead of one of its own (137 MB each).
IN_BUILD, IN_DOCS, IN_TESTS, IN_BENCH = (
    functools.partial(nox.session, venv_backend="none", requires=[_add_environment(group)])
    for group in ("build", "docs", "tests", "bench")
)


def _run(session: nox.Session, group: str, *command: str, within: str | Path = ROOT, **environ: str) -> None:
    """Run a program of a shared environment in a folder; it finds the others there as well."""
    folder = Path(_note(session, group).read_text())
    path = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
    environ = {"PATH": path, "VIRTUAL_ENV": str(folder.parent)} | environ
    program = str(folder / command[0])
    try:
        with _silenced(), session.chdir(within):
            session.run(program, *command[1:], env=environ, interrupt_timeout=PATIENCE_S, terminate_timeout=PATIENCE_S)
    except CommandFailed as error:
        if error.return_code is None:  # it did not run, and so has said nothing itself
            print(f"error: cannot run {program}: {error.reason}", file=sys.stderr)
        if asks_one():  # then nox ends as the command did, and its error is the last that is seen
            sys.exit(error.return_code or 1)
        session.error(f"exit status {error.return_code}")


# Session → the program that it runs, whose `make_parser()` reads the session's arguments.
PROGRAMS = {
    "bench_assemble": "benchmarks/assemble.py",
    "bench_cpu": "benchmarks/cpu_client.py",
    "bench_detect": "benchmarks/detect.py",
    "docs": "build/pjrtwheel/docs/__main__.py",
    "fuzz": "tests/fuzz/fuzz.py",
    "shutdown": "build/pjrtwheel/bazel/clean.py",
}


def _name_program(session: str) -> tuple[str, ...]:
    """Return the words with which Python runs the program of a session: a module of the tooling, or a script."""
    file = PurePosixPath(PROGRAMS[session])
    if file.parts[0] != "build":
        return (str(ROOT / file),)
    return ("-m", ".".join(file.relative_to("build").with_suffix("").parts).removesuffix(".__main__"))


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
    "security": ("zizmor", "--offline", "--quiet", ".github"),
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
    """Run all commands of a table, or those whose names were given; npm brings buildifier, and may be missing."""
    _install(session, "lint")
    for name in session.posargs or commands:
        if name not in commands:
            session.error(f"no {name!r} here; there are: {', '.join(commands)}")
        if commands[name][0] == "npm" and "CI" not in os.environ and not shutil.which("npm"):
            session.warn(f"{name} is not checked: there is no npm on PATH")
        else:
            session.run(*commands[name], external=commands[name][0] == "npm")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, formatting, types, Markdown and workflows; with -- NAME... some of it."""
    _run_named(session, CHECKS)


@nox.session(default=False, name="format")
def write_format(session: nox.Session) -> None:
    """Format Python, C, Starlark and Markdown as lint wants them; with -- NAME... some of it."""
    _run_named(session, FORMATTERS)


@IN_TESTS()
def unit(session: nox.Session) -> None:
    """Run the unit tests: no network, no Bazel, no compiler."""
    _run(session, "tests", "python", "-m", "pytest", *PARALLEL, *UNIT, *session.posargs)


@IN_TESTS(default=False)
def tests(session: nox.Session) -> None:
    """Run all tests, which build, install and run real wheels, and measure coverage; with -- ARGUMENTS only pytest."""
    if session.posargs:
        _run(session, "tests", "python", "-m", "pytest", *session.posargs)
        return
    data = str(session.cache_dir / "coverage")
    command = ("python", "-m", "pytest", *PARALLEL, "--cov", "--cov-report=")
    _run(session, "tests", *command, COVERAGE_FILE=data)
    report = ("coverage", "report", "--format=total")
    for part in MEASURED:
        session.log(f"percent of the lines and branches of {part} that the tests run:")
        _run(session, "tests", *report, "--fail-under=0", f"--include={part}/*", COVERAGE_FILE=data)
    session.log("and of all of it, which must not sink below `fail_under` in pyproject.toml:")
    _run(session, "tests", *report, COVERAGE_FILE=data)


@IN_TESTS(default=False)
def workflows(session: nox.Session) -> None:
    """Run the release workflow on this machine with act, for good and bad releases (tests/workflows/README.md)."""
    paths = ("tests/integration/test_workflows_act.py", "tests/workflows")
    _run(session, "tests", "python", "-m", "pytest", "--durations=0", *paths, *session.posargs)


@IN_TESTS(default=False)
def fuzz(session: nox.Session) -> None:
    """Give the readers of untrusted input a million mutated inputs: -- [--inputs N] [--reader NAME [--only NUMBER]]."""
    path = os.pathsep.join(str(ROOT / folder) for folder in ("build", "selector", "tests/support"))
    command = ("python", *_name_program(session.name), *session.posargs)
    _run(session, "tests", *command, within=session.invoked_from, PYTHONPATH=path)


# Session → its tag, what it says of itself, and the command of the tooling that it runs. Those with the tag `wheel`
# need no arguments and come in the order in which they build on each other: `-t wheel` runs through.
COMMANDS = {
    **{
        f"build_{name}": ("wheel", f"Build, repair, lock and prove the wheels of {name} in dist/.", ("build", name))
        for name in BACKENDS
    },
    "build_all": (
        "wheel",
        "Build, repair, lock and prove the wheels of every backend that a release has, in one run.",
        ("build", "--all"),
    ),
    "release": (
        "release",
        "Build all of a release, its backends, platforms, select, auto and index: -- VERSION [--dry-run] [--no-smoke].",
        ("release",),
    ),
    "build_jaxlib": ("wheel", "Build, repair, lock and check the jaxlib wheels alone.", ("build", "--bindings-only")),
    "build_select": ("wheel", "Build jaxlib-select; its wheel ends up in dist/.", ("select",)),
    "build_auto": ("wheel", "Build jaxlib-auto, a plain wheel and variants for what is in dist/.", ("auto",)),
    "merge": (
        "release",
        "Merge builds, or proofs made elsewhere: -- FOLDER...|--proofs FILE... --dist FOLDER.",
        ("merge",),
    ),
    "index": ("wheel", "Write dist/simple, a static package index that any web server can serve.", ("index",)),
    "attest": ("release", "Write dist/TAG, a release as it is published: -- --tag TAG [--key FILE].", ("attest",)),
    "table": ("wheel", "Print the wheels of dist/ as a table in Markdown: -- [--dist FOLDER].", ("table",)),
    "verify_release": (
        "release",
        "Verify a release as those who receive it: -- FOLDER|URL [--key PUBLIC] [--tag TAG].",
        ("verify_release",),
    ),
    "reproduce": ("release", "Build a release again and compare it byte for byte: -- FOLDER|URL.", ("reproduce",)),
    **{
        f"smoke_{name}": (
            "proof",
            f"Prove the wheels of {name} in dist/ once more, on this machine's own hardware.",
            ("smoke", "--backend", name),
        )
        for name in BACKENDS
    },
    "smoke": ("proof", "Prove finished wheels again in clean environments: -- WHEEL...", ("smoke",)),
    "conformance": (
        "proof",
        "Run JAX's own tests on the built-in client and on the plugin: -- PATH_TO_JAX_TESTS [FILES].",
        ("conformance",),
    ),
    "probe": ("proof", "Run PJRT's conformance checks on plugin libraries, without JAX: -- FILE...", ("probe",)),
    "inspect": (
        "proof",
        "Say what is in a wheel, any JAX plugin's: -- WHEEL... [--verbose] [--json] [--open], or --compare A B.",
        ("inspect",),
    ),
    "release_check": (
        "release",
        "Check a release before anything of it is published: -- --tag TAG [--dist DIR] [--to DESTINATION].",
        ("release_check",),
    ),
    "verify_installs": (
        "proof",
        "Install a release from a stage as users do, and start JAX: -- --index URL|FOLDER [--json FILE].",
        ("verify_installs",),
    ),
    "clean": (
        "tidy",
        "Remove what Bazel left in the cache for deleted checkouts; with -- --all for this one as well.",
        ("clean",),
    ),
    "publish": (
        "release",
        "Publish a release: -- DESTINATION FOLDER [--dry-run] [--from STAGE] [options for addresses].",
        ("publish",),
    ),
    "pages": ("release", "Write the index of all GitHub Releases: -- DESTINATION --pages FOLDER.", ("pages",)),
    "yank": ("release", "Withdraw a published release: -- DESTINATION TAG --reason TEXT.", ("yank",)),
    "bundle": (
        "release",
        "Fill one folder with all that builds and proofs need: -- [--backend B]... FOLDER.",
        ("bundle",),
    ),
    "pin": ("update", "Write releases/VERSION.toml from the package index: -- VERSION.", ("pin",)),
    "bump": (
        "update",
        "Pin, build and prove the next JAX release, and report what changed: -- [VERSION] [--dry-run] [--report FILE].",
        ("bump",),
    ),
    "update_sizes": (
        "update",
        "Write down how large the wheels of a release are: -- --tag TAG [--dist DIR].",
        ("sizes",),
    ),
    "update_facts": ("update", "Write for jaxlib-select what the wheels in dist/ serve.", ("facts",)),
}


def _add_command(name: str, tag: str, summary: str, arguments: tuple[str, ...]) -> None:
    """Define a session that runs one command of the tooling, in the folder that nox was called in."""

    def run(session: nox.Session) -> None:
        root = () if name == "merge" else ("--root", str(ROOT))  # merge looks at its folders alone
        command = ("python", "-m", "pjrtwheel", *arguments, *root, *session.posargs)
        _run(session, "build", *command, within=session.invoked_from, PYTHONPATH=str(ROOT / "build"))

    run.__doc__ = summary
    IN_BUILD(name=name, default=False, tags=[tag])(run)


for _name, _command in COMMANDS.items():
    _add_command(_name, *_command)


@IN_BENCH(default=False)
def bench_assemble(session: nox.Session) -> None:
    """Compare assembly and repair with the standard tools, and with the floor of the machine."""
    command = ("python", *_name_program(session.name), *session.posargs)
    _run(session, "bench", *command, PYTHONPATH=str(ROOT / "build"))


@IN_BENCH(default=False)
def bench_cpu(session: nox.Session) -> None:
    """Compare jaxlib-cpu with JAX's built-in CPU client: -- [--wheels FOLDER]."""
    command = ("python", *_name_program(session.name), *session.posargs)
    _run(session, "bench", *command, within=session.invoked_from, PYTHONPATH=str(ROOT / "build"))


@IN_BENCH(default=False)
def bench_detect(session: nox.Session) -> None:
    """Compare the time of detecting accelerators with that of uv's wheel variants."""
    _run(session, "bench", "python", *_name_program(session.name), *session.posargs)


# Session → what it says of itself, and the script that it runs with options (docs/release/machine.md: what they need).
DEBIAN = {
    "debian": (
        "Run a command in a folder with Debian: -- [--suite S] [--architecture A] [--package P]... COMMAND.",
        ("debian_root.py",),
    ),
    "debian_bazel": (
        "Run the tooling with the Bazel of Debian unstable: -- [--write DIR] build NAME --no-smoke --dist DIR.",
        ("debian_tooling.py", "--package=bazel-bootstrap", "--package=python3"),
    ),
    "debian_python": (
        "Prove wheels on a Python of Debian unstable: -- --backend NAME [--python python3.15] [--dist DIR].",
        ("prove_in_debian.py", "--package=python3", "--package=python3.15"),
    ),
    "debian_arm64": (
        "Prove wheels for aarch64 on an emulated processor: -- --backend NAME [--dist DIR].",
        ("prove_in_debian.py", "--suite=trixie", "--architecture=arm64", "--package=python3"),
    ),
    "debian_torch": (
        "Run JAX next to Debian's PyTorch, on the wheels for the CPU and CUDA 13 in the folder $PJRTWHEEL_DIST.",
        (
            *("debian_tooling.py", "--package=python3-torch", "--package=python3-venv", "--group=tests"),
            *("--module=pytest", "--", "tests/integration/test_torch.py"),
            *("-p", "no:cacheprovider", "-p", "no:hypothesispytest"),  # nobody can write to the repository there
        ),
    ),
}


def _add_debian(name: str, summary: str, command: tuple[str, ...]) -> None:
    """Define a session that runs a script of ci/, in the folder that nox was called in."""

    def run(session: nox.Session) -> None:
        script, *options = command
        arguments = ("python", str(ROOT / "ci" / script), *options, *session.posargs)
        _run(session, "build", *arguments, within=session.invoked_from, PYTHONPATH=str(ROOT / "build"))

    run.__doc__ = summary
    IN_BUILD(name=name, default=False, tags=["debian"])(run)


for _name, _debian in DEBIAN.items():
    _add_debian(_name, *_debian)


@nox.session(default=False, venv_backend="none")
def shutdown(session: nox.Session) -> None:
    """End the Bazel servers of this checkout."""
    session.run(sys.executable, *_name_program(session.name), *session.posargs, env={"PYTHONPATH": "build"})


@nox.session(default=False, tags=["update"])
def lock_tools(session: nox.Session) -> None:
    """Write the hash-pinned requirements that the tools of all sessions, Bazel and noxw are installed from."""
    _install(session, "lock")
    compiling = ["uv", "pip", "compile", "--universal", "--python-version=3.11", "--generate-hashes"]
    environment = {"UV_CUSTOM_COMPILE_COMMAND": "nox -s lock_tools"}
    written: list[str] = []
    for group, name in LOCKS.items():
        options = ["--no-annotate", "--quiet", f"--group={group}", f"--output-file={name}"]
        session.run(*compiling, *options, *(f"--constraints={lock}" for lock in written), env=environment)
        written.append(name)  # one version of what several groups need


def _run_docs(session: nox.Session, *arguments: str) -> None:
    """Run the program of the documents in the folder that nox was called in."""
    command = ("python", *_name_program("docs"), "--root", str(ROOT), *arguments)
    path = os.pathsep.join(str(ROOT / folder) for folder in ("build", "selector"))
    _run(session, "docs", *command, within=session.invoked_from, PYTHONPATH=path)


@IN_DOCS(default=False, tags=["update"])
def update(session: nox.Session) -> None:
    """Write what is generated in README.md and docs/: schemas, the picture, tables."""
    _run_docs(session, "update", *session.posargs)


@IN_DOCS(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation in site/; with -- serve show it, with -- linkcheck ask the addresses in it."""
    _run_docs(session, *session.posargs)


def _refuse_unknown(names: list[str]) -> None:
    """End with nox's own status for a session that there is not, and name those that may have been meant."""
    known = list(nox.registry.get())
    for name in names:
        if name not in known:
            nearest = difflib.get_close_matches(name, known)
            print(f"error: no session {name!r}", file=sys.stderr)
            print(*(f"       nearest to it: {', '.join(nearest)}" for _ in nearest[:1]), sep="", file=sys.stderr)
            print("       all sessions: ./noxw -l", file=sys.stderr)
            sys.exit(3)


_refuse_unknown(_asked_sessions(ASKED))
# noxw has done so before it became nox.
runpy.run_path(str(ROOT / "build/pjrtwheel/bundle/environment.py"))["enter_bundle"](os.environ)
if not ASKED.verbose:
    logging.getLogger("nox").addFilter(_is_wanted)
