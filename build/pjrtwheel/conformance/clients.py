# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run JAX's own tests on a plugin, and what does not pass there on JAX's built-in client, in one environment.

The cases run in a worker of pytest-xdist, which is replaced when a case kills it. What became of each case is read from
pytest's report in JUnit's form.
"""

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from pjrtwheel.backend import Backend
from pjrtwheel.conformance.comparison import CLIENTS, IMPORT, PROCESS, Case, CaseOutcome, Comparison, Expected, compare
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.processes import run_all, run_process
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Release

# Clients of jaxlib 0.11.0 have no `is_c_api`.
_WHICH_CLIENT = """
import jax
print("plugin" if getattr(jax.devices()[0].client, "pjrt_c_api_minor_version", 0) else "built-in")
"""
_START_SECONDS = 180.0
CASE_SECONDS, FILE_SECONDS = 300.0, 3600.0
_DETAIL = 400
# pytest's exit status when all passed, some failed, the file could not be imported, and nothing was there to run.
_ORDERLY = frozenset({0, 1, 2, 5})
_MOST_CRASHES = 100  # then a file that crashes while it is imported is given up
HOW_TO_GET = "JAX's tests are not in its wheel: take tests/ of jax-ml/jax, at the tag jax-v<release> or the nearest one"
# By the element of JUnit's form that a case has, the worst first.
_OUTCOMES = {"error": CaseOutcome.FAILED, "failure": CaseOutcome.FAILED, "skipped": CaseOutcome.SKIPPED}


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
) -> tuple[Comparison, ...]:
    """Run every file on the plugin, and what did not pass there on the built-in client.

    A file that cannot be imported is not run again: it is one of another release, and compares nothing.

    Raises:
        ProofError: JAX uses another client than the one that is asked for, so the comparison would say nothing.
    """
    environs = {client: client_environ(os.environ, backend, client) for client in CLIENTS}
    for client, environ in environs.items():
        check_client(python, environ, client)

    def run(test_file: Path) -> Comparison:
        plugin = run_file(python, test_file, environs["plugin"])
        again = [name for name, case in plugin.items() if case.outcome is not CaseOutcome.PASSED]
        again = [name for name in again if not name.endswith((IMPORT, PROCESS))]
        builtin = run_file(python, test_file, environs["built-in"], names=again) if again else {}
        print(f"{test_file.name}: {len(plugin)} cases, {len(builtin)} on both clients", flush=True)
        return compare(test_file.name, plugin, builtin, expected)

    return run_all(run, test_files, jobs)


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


def read_report(report: Path, file: str) -> dict[str, Case]:
    """Return the cases of a test file by name, from pytest's report; where a name comes twice, the worse one counts."""
    cases: dict[str, Case] = {}
    for found in ET.parse(report).iter("testcase"):  # noqa: S314 - of the tests that have just run
        group = found.get("classname", "")
        name = "::".join([file, *group.split(".")[1:], found.get("name", "")]) if group else f"{file}{IMPORT}"
        if name.count("]") > name.count("["):
            name = name.removesuffix("]")  # which pytest adds to a name with other text behind its bracket
        elements = {element.tag: element for element in found}
        kind = next((tag for tag in _OUTCOMES if tag in elements), "")
        if kind:
            text = elements[kind].get("message", "")
            cases[name] = Case(_OUTCOMES[kind], " ".join(text.split())[:_DETAIL])
        cases.setdefault(name, Case(CaseOutcome.PASSED))
    return cases


def run_file(
    python: Path,
    test_file: Path,
    environ: Mapping[str, str],
    *,
    names: Sequence[str] = (),
    case_seconds: float = CASE_SECONDS,
    file_seconds: float = FILE_SECONDS,
) -> dict[str, Case]:
    """Run the cases of a file, all or those named, within time limits, and return what became of each, by name.

    After a crash the cases behind it run in another process. The environment says which client they use.
    """
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        report, chosen = Path(scratch) / "report.xml", Path(scratch) / "cases"
        chosen.write_text("\n".join(str(test_file.parent / name) for name in names or [test_file.name]), "utf-8")
        command = [*_pytest(python, test_file.parent, case_seconds), f"--junit-xml={report}", f"@{chosen}"]
        end = run_process(command, file_seconds, environ=environ)
        cases = read_report(report, test_file.name) if report.is_file() else {}
    if end.status not in _ORDERLY:
        detail = f"{end.describe()}: {' '.join(end.output.split())[-_DETAIL:]}"
        cases[f"{test_file.name}{PROCESS}"] = Case(CaseOutcome.FAILED, detail)
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
