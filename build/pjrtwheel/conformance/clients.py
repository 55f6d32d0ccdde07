# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run JAX's own tests on the built-in client and on a plugin, in one environment, and compare case by case."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.conformance.cases import Case, Outcome
from pjrtwheel.conformance.difference import Difference, compare
from pjrtwheel.conformance.expected import Expected
from pjrtwheel.conformance.runner import FileRun, Limits, run_file
from pjrtwheel.errors import ProofError, UsageError

__all__ = ["Limits", "compare_runs", "find_test_files", "run_clients"]

CLIENTS = ("built-in", "plugin")
HOW_TO_GET = (
    "JAX's tests are not in its wheel: they are the tests/ folder of jax-ml/jax at the tag jax-v<release>, "
    "or the nearest one there is"
)


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

    What users set for JAX (`JAX_NUM_GENERATED_CASES`, `XLA_FLAGS`, ...) holds for both; what steers Python does not.
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
        ProofError: A client was not the one that was asked for, so the comparison would say nothing.
    """
    results.mkdir(parents=True, exist_ok=True)

    def run(work: tuple[Path, str]) -> None:
        test_file, client = work
        done = run_file(python, test_file, client_environ(os.environ, backend, client), limits)
        if done.client not in {client, "unknown"}:
            raise ProofError(
                f"{test_file.name} ran on the {done.client} client instead of the {client} one",
                cause=f"the plugin did not take over, or {backend.disable}=1 did not switch it off",
            )
        result_path(results, test_file.name, client).write_text(json.dumps(_to_json(done), indent=1), "utf-8")
        print(f"{test_file.name} on the {client} client: {len(done.cases)} cases in {done.seconds:.0f} s", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run, [(test_file, client) for test_file in test_files for client in clients]))


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
        builtin, plugin = (parse_run(json.loads(path.read_text("utf-8"))) for path in paths)
        differences.append(compare(name, builtin.cases, plugin.cases, expected))
    return tuple(differences)


def result_path(results: Path, file: str, client: str) -> Path:
    """Return where the result of a file on a client is kept."""
    return results / f"{file.removesuffix('.py')}.{client}.json"


def parse_run(table: dict[str, Any]) -> FileRun:
    """Turn stored JSON values back into a run."""
    cases = {name: Case(name, Outcome(outcome), detail) for name, (outcome, detail) in table["cases"].items()}
    return FileRun(table["file"], cases, table["client"], table["seconds"])


def _to_json(run: FileRun) -> dict[str, Any]:
    return {
        "file": run.file,
        "client": run.client,
        "seconds": run.seconds,
        "cases": {name: [case.outcome.value, case.detail] for name, case in run.cases.items()},
    }
