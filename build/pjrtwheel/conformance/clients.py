# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run JAX's own tests on the built-in client and on a plugin, in one environment, through crashes and hangs.

The cases run in a worker of pytest-xdist, which is replaced when a case kills it. What became of each case is read from
the log that pytest-reportlog writes line by line.
"""

import itertools
import json
import os
import shlex
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.conformance.comparison import IMPORT, WORST, Case, CaseOutcome, Difference, Expected, compare
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.processes import run_all, run_process
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Release

CLIENTS = ("built-in", "plugin")
_WHICH_CLIENT = "import jax; print(['built-in', 'plugin'][getattr(jax.devices()[0].client, 'is_c_api', False)])"
_START_SECONDS = 180.0
CASE_SECONDS, FILE_SECONDS = 300.0, 3600.0
_DETAIL = 400
# pytest's exit status when all passed, some failed, the file could not be imported, and nothing was there to run.
_ORDERLY = frozenset({0, 1, 2, 5})
_MOST_CRASHES = 100  # then a file that crashes while it is imported is given up
_UNFINISHED = {"setup", "call"}
_CRASH, _NO_PHASE = "worker ", "???"  # what xdist says of a case that killed its worker, and when
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


def read_log(lines: Iterable[str]) -> dict[str, Case]:
    """Return the cases in a log that ended, by name; a last line that was cut short is ignored.

    Of set-up, call, tear-down and subtests the worst counts.
    """
    cases: dict[str, Case] = {}
    ended: set[str] = set()
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        match entry["$report_type"]:
            case "CollectReport" if entry["outcome"] != "passed":
                name = entry["nodeid"] + IMPORT
                cases[name] = _read_case(entry)
                ended.add(name)
            case kind if kind.endswith("Report") and "when" in entry:
                name = entry["nodeid"]
                before = cases.get(name, Case(CaseOutcome.PASSED))
                cases[name] = max(before, _read_case(entry), key=lambda found: WORST.index(found.outcome))
                if entry["when"] not in _UNFINISHED:
                    ended.add(name)
    return {name: case for name, case in cases.items() if name in ended}


def _read_case(entry: Mapping[str, Any]) -> Case:
    match entry["longrepr"]:
        case [_, _, reason]:
            text = reason
        case {"reprcrash": {"message": message}}:
            text = message
        case other:
            text = str(other or "")
    crashed = text.startswith(_CRASH) and entry.get("when") == _NO_PHASE
    outcome = CaseOutcome.CRASHED if crashed else CaseOutcome(entry["outcome"])
    return Case(outcome, " ".join(text.split())[:_DETAIL])


def run_file(
    python: Path,
    test_file: Path,
    environ: Mapping[str, str],
    *,
    case_seconds: float = CASE_SECONDS,
    file_seconds: float = FILE_SECONDS,
) -> dict[str, Case]:
    """Run every case of a file within time limits, and return what became of each, by name.

    After a crash the cases behind it run in another process. The environment says which client they use.
    """
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        log = Path(scratch) / "log"
        command = [*_pytest(python, test_file.parent, case_seconds), f"--report-log={log}", str(test_file)]
        end = run_process(command, file_seconds, environ=environ)
        cases = read_log(log.read_text("utf-8").splitlines() if log.is_file() else [])
    if end.status not in _ORDERLY:
        detail = f"{end.describe()}: {' '.join(end.output.split())[-_DETAIL:]}"
        cases[f"{test_file.name}::process"] = Case(CaseOutcome.CRASHED, detail)
    return cases


def _pytest(python: Path, folder: Path, case_seconds: float) -> list[str]:
    """Return the command of pytest, without any configuration that is not given here.

    Python's faulthandler ends a worker whose case takes too long, whoever holds the GIL.
    """
    settings = (
        f"pythonpath={shlex.quote(str(folder))}",
        f"faulthandler_timeout={case_seconds}",
        "faulthandler_exit_on_timeout=true",
    )
    options = ["-q", "--tb=short", "-p", "no:cacheprovider", "-n1", f"--max-worker-restart={_MOST_CRASHES}"]
    options += ["--import-mode=importlib", "-c", "/dev/null", f"--rootdir={folder}"]
    return [str(python), "-I", "-m", "pytest", *options, *(f"--override-ini={setting}" for setting in settings)]
