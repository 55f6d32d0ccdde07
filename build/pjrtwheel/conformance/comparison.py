# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run JAX's own tests on the built-in client and on a plugin, in one environment, and compare case by case.

The cases run in a worker of pytest-xdist, which is replaced when a case kills it. What became of each case is read from
the log that pytest-reportlog writes line by line. The differences that cannot be avoided are in
`tests/conformance/<backend>.toml`, with a reason for each.
"""

import fnmatch
import itertools
import json
import os
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

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
_UNFINISHED = {"setup", "call"}
_CRASH, _NO_PHASE = "worker ", "???"  # what xdist says of a case that killed its worker, and when
HOW_TO_GET = "JAX's tests are not in its wheel: take tests/ of jax-ml/jax, at the tag jax-v<release> or the nearest one"

# Ends the name of the case that stands for importing a file, which there is only when that fails.
IMPORT = "::import"


class CaseOutcome(StrEnum):
    """What became of one case; one that exceeds its time limit crashes."""

    PASSED = "passed"
    SKIPPED = "skipped"
    FAILED = "failed"
    CRASHED = "crashed"
    NOT_RUN = "not run"

    def is_bad(self) -> bool:
        """Return whether the case ran and did not do what it should."""
        return self in {CaseOutcome.FAILED, CaseOutcome.CRASHED}


_WORST = (CaseOutcome.PASSED, CaseOutcome.SKIPPED, CaseOutcome.FAILED, CaseOutcome.CRASHED)


@dataclass(frozen=True, slots=True)
class Case:
    """One test case on one client; its name, as pytest gives it, is the key under which it is kept.

    Attributes:
        detail: The last line of the failure, or why it was skipped.
    """

    outcome: CaseOutcome
    detail: str = ""


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


class ChangeKind(StrEnum):
    """How a case differs on the plugin; it may also fail on both clients, in another way."""

    FAILING = "newly failing"
    SKIPPED = "newly skipped"
    PASSING = "passing on the plugin alone"
    OTHER = "failing on both"


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
    def kind(self) -> ChangeKind:
        """How it differs: a case that fails, crashes or hangs on the plugin, or is lost there, is a failing one."""
        if self.after.is_bad() or self.after is CaseOutcome.NOT_RUN:
            return ChangeKind.OTHER if self.before.is_bad() else ChangeKind.FAILING
        return ChangeKind.SKIPPED if self.after is CaseOutcome.SKIPPED else ChangeKind.PASSING


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

    def of_kind(self, *kinds: ChangeKind) -> list[Change]:
        """Return the changes of some kinds."""
        return [change for change in self.changes if change.kind in kinds]

    def unexpected(self) -> list[Change]:
        """Return the changes for the worse that no entry explains."""
        return [change for change in self.of_kind(*_WORSE) if not change.reason]


_WORSE = (ChangeKind.FAILING, ChangeKind.SKIPPED)


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
    names = [*builtin, *(name for name, case in plugin.items() if name not in builtin and case.outcome.is_bad())]
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
        unusable=next((c.detail for n, c in builtin.items() if n.endswith(IMPORT) and c.outcome.is_bad()), ""),
    )


def _change(name: str, before: Case, after: Case, expected: Sequence[Expected]) -> Change:
    reason = next((entry.reason for entry in expected if entry.outcome is after.outcome and entry.matches(name)), "")
    return Change(name, before.outcome, after.outcome, after.detail, reason)


def _format_counts(counts: Counter[CaseOutcome]) -> str:
    """Return `passed / failed / skipped`, and how many crashed.

    >>> _format_counts(Counter({CaseOutcome.PASSED: 5, CaseOutcome.SKIPPED: 2, CaseOutcome.CRASHED: 1}))
    '5 / 0 / 2 (1 crashed)'
    """
    crashed = f" ({counts[CaseOutcome.CRASHED]} crashed)" if counts[CaseOutcome.CRASHED] else ""
    return " / ".join(str(counts[outcome]) for outcome in _SHOWN) + crashed


def format_report(differences: Sequence[Difference]) -> str:
    """Return the table, followed by every case that differs."""
    return "\n".join(_lines(differences)) + "\n"


def _lines(differences: Sequence[Difference]) -> Iterator[str]:
    counts = " / ".join(_SHOWN)
    yield f"| file | built-in: {counts} | plugin: {counts} | newly failing | newly skipped | of these expected |"
    yield "|---|---|---|---|---|---|"
    for d in differences:
        failing, skipped = (len(d.of_kind(kind)) for kind in _WORSE)
        counts = f"{_format_counts(d.builtin)} | {_format_counts(d.plugin)}"
        yield f"| {d.file} | {counts} | {failing} | {skipped} | {failing + skipped - len(d.unexpected())} |"
    for d in differences:
        if d.unusable:
            yield from ("", f"{d.file} compares nothing, it cannot be imported with this JAX: {d.unusable}")
        for kind in (*_WORSE, ChangeKind.PASSING):
            yield from _section(f"{d.file}: {kind}", d.of_kind(kind))
        if d.stale:
            yield from ("", f"{d.file}: stale entries, to be removed from the list of expected differences", "")
            yield from (f"- {entry.case} ({entry.outcome})" for entry in d.stale)


def _section(title: str, changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        yield from ("", title, "")
        for change in changes:
            why = f"expected: {change.reason}" if change.reason else change.detail
            yield f"- {change.name}: {change.before} -> {change.after}; {why}"


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
                cases[name] = max(before, _read_case(entry), key=lambda found: _WORST.index(found.outcome))
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
