# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run JAX's own tests on the built-in client and on a plugin, in one environment, and compare case by case."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.backend import Backend
from pjrtwheel.conformance.comparison import Difference, Expected, compare
from pjrtwheel.conformance.run_file import FileRun, Limits, run_file
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.processes import run_all
from pjrtwheel.environment.venv import create_environment, last_lines, requirement_group, run_tool
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import write_atomically
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Release

CLIENTS = ("built-in", "plugin")
HOW_TO_GET = "JAX's tests are not in its wheel: take tests/ of jax-ml/jax, at the tag jax-v<release> or the nearest one"


def find_test_files(folder: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """Return the test files to run: those named, with or without `.py`, or all of the folder.

    Raises:
        UsageError: The folder or a file is not there.
    """
    if not names:
        found = tuple(sorted(folder.glob("*_test.py")))
        if not found:
            raise UsageError(f"no *_test.py in {folder}", cause=HOW_TO_GET)
        return found
    paths = tuple((folder / f"{name.removesuffix('.py')}.py").resolve() for name in names)
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise UsageError(f"not in {folder}: {', '.join(missing)}", cause=HOW_TO_GET)
    return paths


def client_environ(environ: Mapping[str, str], backend: Backend, client: str) -> dict[str, str]:
    """Return the environment that makes JAX use one of the two clients.

    What users set for JAX (`JAX_NUM_GENERATED_CASES`, `XLA_FLAGS`, ...) holds for both; what changes Python does not.
    """
    kept = {name: value for name, value in environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    kept.pop(backend.disable, None)
    return kept if client == "plugin" else kept | {backend.disable: "1"}


def run_clients(
    python: Path,
    test_files: Sequence[Path],
    backend: Backend,
    limits: Limits,
    *,
    results: Path,
    jobs: int = 1,
    clients: Sequence[str] = CLIENTS,
) -> None:
    """Run every file on every client, and write each result to `results` as soon as it is there.

    Raises:
        ProofError: A file ran on another client than the one that was asked for, so the comparison would say nothing.
    """
    results.mkdir(parents=True, exist_ok=True)
    environs = {client: client_environ(os.environ, backend, client) for client in clients}

    def run(work: tuple[Path, str]) -> None:
        test_file, client = work
        done = run_file(python, test_file, environs[client], limits)
        check_client(done, client)
        write_atomically(result_path(results, test_file.name, client), tables.write_json(done))
        print(f"{test_file.name} on the {client} client: {len(done.cases)} cases in {done.seconds:.0f} s", flush=True)

    run_all(run, [(test_file, client) for test_file in test_files for client in clients], jobs)


def check_client(done: FileRun, client: str) -> None:
    """Make sure that a file ran on a client; one whose processes all crashed, or that has nothing of JAX, says none.

    Raises:
        ProofError: It ran on another one.
    """
    if done.client not in {client, ""}:
        raise ProofError(
            f"{done.file} ran on the {done.client} client instead of the {client} one",
            cause="the plugin did not take over, or the variable that disables it had no effect",
        )


def compare_runs(results: Path, names: Sequence[str], expected: Sequence[Expected]) -> tuple[Difference, ...]:
    """Compare the stored results of files that ran on both clients.

    Raises:
        UsageError: A file has not run on both.
    """
    differences = []
    for name in names:
        paths = [result_path(results, name, client) for client in CLIENTS]
        missing = [path.name for path in paths if not path.is_file()]
        if missing:
            raise UsageError(f"no results in {results}: {', '.join(missing)}", remedy="run these files first")
        builtin, plugin = (_read_run(path) for path in paths)
        differences.append(compare(name, builtin.cases, plugin.cases, expected))
    return tuple(differences)


def results_folder(cache: Path, backend: Backend, version: str) -> Path:
    """Return where the results of a backend are kept, those of each set by themselves."""
    return cache / "conformance" / f"{backend.name}-{version}"


def installed_version(python: Path, backend: Backend) -> str:
    """Return the version of the plugin in an environment, by its Python.

    Raises:
        UsageError: The plugin is not there, or no Python.
    """
    code = f"from importlib.metadata import version; print(version({backend.distribution!r}))"
    done = run_tool([str(python), "-I", "-c", code]) if python.is_file() else None
    if done is None or done.returncode != 0:
        raise UsageError(
            f"no {backend.distribution} in the environment of {python}",
            cause=last_lines(done.stderr, 1) if done else "there is no such file",
            remedy="give the Python of an environment with both wheels and what JAX's tests need",
        )
    return done.stdout.strip()


def result_path(results: Path, file: str, client: str) -> Path:
    """Return where the result of a file on a client is kept."""
    return results / f"{file.removesuffix('.py')}.{client}.json"


def _read_run(path: Path) -> FileRun:
    try:
        return tables.read_json(FileRun, path.read_bytes())
    except tables.TableError as error:
        raise UsageError(f"malformed result: {path}", cause=str(error), remedy="run this file again") from error


def find_python(release: Release, tag: str | None) -> Interpreter:
    """Return the interpreter to run on: that of a tag, or else that of the oldest Python of the release that is here.

    Raises:
        UsageError: There is no such interpreter here.
    """
    wanted = (tag,) if tag else release.pythons(host_platform().name)
    found = next((interpreter for interpreter in find_interpreters(wanted).values() if interpreter), None)
    if found is None:
        raise UsageError(f"no interpreter here for {', '.join(wanted)}", remedy="install one of these Pythons")
    return found


def make_environment(
    scratch: Path, root: Path, release: Release, interpreter: Interpreter, wheels: Sequence[Path]
) -> Path:
    """Make an environment in `scratch` with a pair of wheels and what JAX's tests need, and return its Python."""
    requirements = [f"jax=={release.version}", *requirement_group(root, "conformance")]
    return create_environment(interpreter, requirements, wheels, target=scratch / "venv", cache=cache_root(os.environ))
