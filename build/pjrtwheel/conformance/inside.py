# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run pytest on one test file, and write a line to the journal before and after each case.

Started as `python recorder.py JOURNAL FILE DONE` inside the environment under test; standard library, pytest and JAX
only. DONE lists cases that earlier processes have dealt with. Each line is flushed at once, so that the journal is
complete up to the case that brought the process down.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

_WORST = ("passed", "skipped", "failed")
_DETAIL = 400


class Recorder:
    """A pytest plugin that keeps the journal."""

    def __init__(self, journal: Path, done: frozenset[str]) -> None:
        """Open the journal.

        Args:
            journal: File to append to.
            done: Cases not to run again.
        """
        self._stream = journal.open("a", encoding="utf-8", buffering=1)
        self._done = done
        self._outcome: dict[str, tuple[str, str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Write down what there is, and leave out what was dealt with."""
        self._write(event="collected", cases=[item.nodeid for item in items])
        items[:] = [item for item in items if item.nodeid not in self._done]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported counts as one case."""
        if report.outcome != "passed":
            self._write(event="end", case=f"{report.nodeid}::import", outcome=report.outcome, detail=_describe(report))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write down that a case begins."""
        self._outcome[nodeid] = ("passed", "")
        self._write(event="start", case=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst of set-up, call, tear-down and subtests."""
        before, _ = self._outcome[report.nodeid]
        if _WORST.index(report.outcome) > _WORST.index(before):
            self._outcome[report.nodeid] = (report.outcome, _describe(report))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Write down how a case ended."""
        outcome, detail = self._outcome.pop(nodeid)
        self._write(event="end", case=nodeid, outcome=outcome, detail=detail)

    def pytest_sessionfinish(self) -> None:
        """Write down which client JAX has run on."""
        self._write(event="client", client=describe_client())

    def _write(self, **event: Any) -> None:
        self._stream.write(json.dumps(event) + "\n")


def describe_client() -> str:
    """Return `plugin` or `built-in` for JAX's default client."""
    jax = importlib.import_module("jax")  # this file is also imported where there is no JAX
    return "plugin" if getattr(jax.devices()[0].client, "is_c_api", False) else "built-in"


def _describe(report: Any) -> str:
    """Return the last line of a failure, or the reason of a skip."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])[:_DETAIL]
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longreprtext
    return " ".join(text.split())[:_DETAIL]


def main() -> int:
    """Run the file named on the command line."""
    journal, test_file, done = map(Path, sys.argv[1:4])
    recorder = Recorder(journal, frozenset(json.loads(done.read_text("utf-8"))))
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-c", "/dev/null", "--tb=short"]
    sys.path.insert(0, str(test_file.parent))
    return int(pytest.main([*options, f"--rootdir={test_file.parent}", str(test_file)], plugins=[recorder]))


if __name__ == "__main__":
    sys.exit(main())
