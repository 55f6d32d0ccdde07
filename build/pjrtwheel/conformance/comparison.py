# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run JAX's own tests on the built-in client and on a plugin, in one environment, and compare case by case.

The cases run in a worker of pytest-xdist, which is replaced when a case kills it. What became of each case is read from
pytest's report in JUnit's form. The differences that cannot be avoided are in
`tests/conformance/<backend>.toml`, with a reason for each.
"""

import fnmatch
import itertools
import os
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree as ET

from pjrtwheel import tables
from pjrtwheel.backend import Backend
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
HOW_TO_GET = "JAX's tests are not in its wheel: take tests/ of jax-ml/jax, at the tag jax-v<release> or the nearest one"

# Ends the name of the case that stands for importing a file, which there is only when that fails.
IMPORT = "::import"


class CaseOutcome(StrEnum):
    """What became of one case; one that kills its worker, or exceeds its time limit, has failed."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Case:
    """One test case on one client; its name, as pytest gives it, is the key under which it is kept.

    Attributes:
        detail: The failure, or why it was skipped, in one line.
    """

    outcome: CaseOutcome
    detail: str = ""


# By the element of JUnit's form that a case has, the worst first.
_OUTCOMES = {"error": CaseOutcome.FAILED, "failure": CaseOutcome.FAILED, "skipped": CaseOutcome.SKIPPED}
_SHOWN = (CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.SKIPPED)


@dataclass(frozen=True, slots=True)
class Expected:
    """One unavoidable difference.

    Attributes:
        case: Name of the case, or a pattern with `*`.
        outcome: What becomes of it on the plugin.
        reason: Why, in one sentence.
    """

    case: str
    outcome: CaseOutcome
    reason: str = tables.column(pattern=r"(?s)\s*\S.*")

    def matches(self, name: str) -> bool:
        """Return whether this entry is about a case."""
        return fnmatch.fnmatchcase(name, self.case)


@dataclass(frozen=True, slots=True)
class Change:
    """A case that went from one outcome on the built-in client to another one on the plugin.

    Attributes:
        detail: What it said on the plugin.
        reason: Why this is expected; empty if it is not.
    """

    name: str
    before: CaseOutcome
    after: CaseOutcome
    detail: str
    reason: str

    @property
    def is_worse(self) -> bool:
        """Whether it did more on the built-in client: a case that is lost on the plugin is one."""
        if self.after is CaseOutcome.SKIPPED:
            return True
        return self.after is not CaseOutcome.PASSED and self.before is not CaseOutcome.FAILED


@dataclass(frozen=True, slots=True)
class Difference:
    """The comparison of one test file.

    Attributes:
        builtin: CaseOutcome → count on the built-in client; `plugin` has those on the plugin.
        changes: Cases that went from one outcome to another one.
        stale: Expected entries whose cases ran and no longer differ.
        unusable: Why the file cannot be imported on the built-in client, so that it compares nothing; usually empty.
    """

    file: str
    builtin: Counter[CaseOutcome]
    plugin: Counter[CaseOutcome]
    changes: tuple[Change, ...]
    stale: tuple[Expected, ...]
    unusable: str

    def worse(self) -> list[Change]:
        """Return the changes for the worse."""
        return [change for change in self.changes if change.is_worse]

    def unexpected(self) -> list[Change]:
        """Return those that no entry explains."""
        return [change for change in self.worse() if not change.reason]


@dataclass(frozen=True, slots=True)
class _ExpectedFile:
    difference: tuple[Expected, ...] = ()


def load_expected(root: Path, backend: str) -> tuple[Expected, ...]:
    """Read the list of a backend; empty if it has none.

    Raises:
        UsageError: It is malformed, or an entry gives no reason.
    """
    path = root / "tests" / "conformance" / f"{backend}.toml"
    try:
        return tables.read_toml(_ExpectedFile, path.read_text("utf-8")).difference if path.is_file() else ()
    except tables.TableError as error:
        raise UsageError(f"malformed list of expected differences: {path}", cause=str(error)) from error


def compare(
    file: str, builtin: Mapping[str, Case], plugin: Mapping[str, Case], expected: Sequence[Expected]
) -> Difference:
    """Compare the cases of one file.

    One that only the built-in client has counts as not run on the plugin, and that as newly failing.
    """
    # A process that breaks outside of any case has no counterpart on the other side.
    names = [
        *builtin,
        *(name for name, case in plugin.items() if name not in builtin and case.outcome is CaseOutcome.FAILED),
    ]
    nothing = Case(CaseOutcome.NOT_RUN, "lost")
    changes = [_change(name, builtin.get(name, nothing), plugin.get(name, nothing), expected) for name in names]
    differing = tuple(change for change in changes if change.before is not change.after)
    stale = [entry for entry in expected if any(map(entry.matches, plugin))]
    return Difference(
        file=file,
        builtin=Counter(case.outcome for case in builtin.values()),
        plugin=Counter(case.outcome for case in plugin.values()),
        changes=differing,
        stale=tuple(entry for entry in stale if not any(entry.matches(change.name) for change in differing)),
        unusable=next((c.detail for n, c in builtin.items() if n.endswith(IMPORT)), ""),
    )


def _change(name: str, before: Case, after: Case, expected: Sequence[Expected]) -> Change:
    reason = next((entry.reason for entry in expected if entry.outcome is after.outcome and entry.matches(name)), "")
    return Change(name, before.outcome, after.outcome, after.detail, reason)


def format_report(differences: Sequence[Difference]) -> str:
    """Return the table, followed by every case that differs."""
    return "\n".join(_lines(differences)) + "\n"


def _lines(differences: Sequence[Difference]) -> Iterator[str]:
    yield "| file | built-in: {0} | plugin: {0} | worse | of these expected |".format(" / ".join(_SHOWN))
    yield "|---|---|---|---|---|"
    for d in differences:
        builtin, plugin = (" / ".join(str(of[outcome]) for outcome in _SHOWN) for of in (d.builtin, d.plugin))
        yield f"| {d.file} | {builtin} | {plugin} | {len(d.worse())} | {len(d.worse()) - len(d.unexpected())} |"
    for d in differences:
        if d.unusable:
            yield from ("", f"{d.file} compares nothing, it cannot be imported with this JAX: {d.unusable}")
        if d.changes:
            yield from ("", f"{d.file}: cases that differ", "")
        for change in d.changes:
            why = f"expected: {change.reason}" if change.reason else change.detail
            yield f"- {change.name}: {change.before} -> {change.after}; {why}"
        if d.stale:
            yield from ("", f"{d.file}: stale entries, to be removed from the list of expected differences", "")
            yield from (f"- {entry.case} ({entry.outcome})" for entry in d.stale)


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


def read_report(report: Path, file: str) -> dict[str, Case]:
    """Return the cases of a test file by name, from pytest's report; where a name comes twice, the worse one counts."""
    cases: dict[str, Case] = {}
    for found in ET.parse(report).iter("testcase"):  # noqa: S314 - of the tests that have just run
        group = found.get("classname", "")
        name = "::".join([file, *group.split(".")[1:], found.get("name", "")]) if group else f"{file}{IMPORT}"
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
    case_seconds: float = CASE_SECONDS,
    file_seconds: float = FILE_SECONDS,
) -> dict[str, Case]:
    """Run every case of a file within time limits, and return what became of each, by name.

    After a crash the cases behind it run in another process. The environment says which client they use.
    """
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        report = Path(scratch) / "report.xml"
        command = [*_pytest(python, test_file.parent, case_seconds), f"--junit-xml={report}", str(test_file)]
        end = run_process(command, file_seconds, environ=environ)
        cases = read_report(report, test_file.name) if report.is_file() else {}
    if end.status not in _ORDERLY:
        detail = f"{end.describe()}: {' '.join(end.output.split())[-_DETAIL:]}"
        cases[f"{test_file.name}::process"] = Case(CaseOutcome.FAILED, detail)
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
