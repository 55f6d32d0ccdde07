# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run JAX's own tests on the built-in client and on a plugin, in one environment, and compare case by case."""

import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.conformance.comparison import Difference, Expected, compare
from pjrtwheel.conformance.run_file import Case, run_file
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.processes import run_all, run_process
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Release

CLIENTS = ("built-in", "plugin")
_WHICH_CLIENT = "import jax; print(['built-in', 'plugin'][getattr(jax.devices()[0].client, 'is_c_api', False)])"
_START_SECONDS = 180.0
HOW_TO_GET = "JAX's tests are not in its wheel: take tests/ of jax-ml/jax, at the tag jax-v<release> or the nearest one"


def find_test_files(folder: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """Return the test files to run: those named, with or without `.py`, or all of the folder.

    Raises:
        UsageError: The folder or a file is not there.
    """
    named = [(folder / f"{name.removesuffix('.py')}.py").resolve() for name in names]
    paths = tuple(named or sorted(folder.glob("*_test.py")))
    missing = [path.name for path in paths if not path.is_file()] if paths else ["*_test.py"]
    if missing:
        raise UsageError(f"no {', '.join(missing)} in {folder}", cause=HOW_TO_GET)
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
    expected: Sequence[Expected],
    *,
    jobs: int,
) -> tuple[Difference, ...]:
    """Run every file on both clients, and compare what became of its cases.

    Raises:
        ProofError: JAX uses another client than the one that is asked for, so the comparison would say nothing.
    """
    environs = {client: client_environ(os.environ, backend, client) for client in CLIENTS}
    for client, environ in environs.items():
        check_client(python, environ, client)

    def run(work: tuple[Path, str]) -> dict[str, Case]:
        test_file, client = work
        cases = run_file(python, test_file, environs[client])
        print(f"{test_file.name} on the {client} client: {len(cases)} cases", flush=True)
        return cases

    runs = run_all(run, itertools.product(test_files, CLIENTS), jobs)
    rows = zip(test_files, runs[::2], runs[1::2], strict=True)
    return tuple(compare(test_file.name, builtin, plugin, expected) for test_file, builtin, plugin in rows)


def check_client(python: Path, environ: Mapping[str, str], client: str) -> None:
    """Make sure that JAX uses a client in an environment.

    Raises:
        ProofError: It uses the other one, or does not start.
    """
    end = run_process([str(python), "-I", "-c", _WHICH_CLIENT], _START_SECONDS, environ=environ)
    if end.last_line() != client:
        raise ProofError(
            f"JAX does not run on the {client} client, but: {end.last_line() or end.describe()}",
            cause="the plugin did not take over, or the variable that disables it had no effect",
        )


def find_python(release: Release) -> Interpreter:
    """Return the interpreter to run on: the oldest Python of the release that is here.

    Raises:
        UsageError: There is none.
    """
    wanted = release.pythons(host_platform().name)
    found = next((interpreter for interpreter in find_interpreters(wanted).values() if interpreter), None)
    if found is None:
        raise UsageError(f"no interpreter here for {', '.join(wanted)}", remedy="install one of these Pythons")
    return found
