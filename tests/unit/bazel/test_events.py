# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Bazel says: its event file, the error in a failure, and how far it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.bazel.events import Action, BuildLog, explain_failure, parse_events, report_line
from pjrtwheel.errors import BazelError, ElfError
from pjrtwheel.progress import Step


def lines_of(*events: dict[str, Any]) -> list[str]:
    """Return the lines of a build event file."""
    return [json.dumps(event) + "\n" for event in events]


def action(label: str, **content: object) -> dict[str, Any]:
    """Return the event of one action."""
    return {"id": {"actionCompleted": {"label": label, "primaryOutput": "out/x"}}, "action": content}


NAMED = {"id": {"namedSet": {"id": "0"}}, "namedSetOfFiles": {"files": [{"uri": "file:///b/a%20b.whl"}]}}
OUTER = {"id": {"namedSet": {"id": "1"}}, "namedSetOfFiles": {"fileSets": [{"id": "0"}]}}
COMPLETED = {
    "id": {"targetCompleted": {"label": "@//plugins/cpu:wheel"}},
    "completed": {
        "outputGroup": [{"name": "default", "fileSets": [{"id": "1"}]}, {"name": "other", "fileSets": [{"id": "0"}]}]
    },
}


def test_what_a_build_leaves_and_did(tmp_path: Path) -> None:
    """Outputs come from nested sets of the default group, actions without bookkeeping, failures with their words.

    A Bazel that was killed leaves half a line, and what is before it counts.
    """
    said = tmp_path / "stderr"
    said.write_text("error: no s3cr3t\n", "utf-8")
    events = lines_of(
        NAMED,
        OUTER,
        action("//:a", type="AssembleWheel", success=True, stderr={"uri": said.as_uri()}),
        action("@//:b", type="CompileExtension", exitCode=1, stderr={"uri": said.as_uri()}),
        action("//:c", type="BazelWorkspaceStatusAction", success=True),
        COMPLETED,
    )
    log = parse_events([*events, '{"id": {"prog'], "s3cr3t\n", lambda text: text.replace("s3cr3t", "?"))
    good = Action("AssembleWheel", "//:a", "out/x", success=True, stderr="")
    bad = Action("CompileExtension", "//:b", "out/x", success=False, stderr="error: no ?\n")
    assert log == BuildLog({"//plugins/cpu:wheel": (Path("/b/a b.whl"),)}, (good, bad), "?\n")


ERROR = "error: a.so in a.whl is not an ELF file\n       it starts with b'# '\n"


def failed(stderr: str, text: str) -> BuildLog:
    """Return the log of a build whose only action failed; Bazel's events say 1 whatever the tool's status was."""
    action = Action("AssembleWheel", "//plugins/cpu:wheel", "x", success=False, stderr=stderr)
    return BuildLog({}, (action,), text)


@pytest.mark.parametrize(
    ("stderr", "text"),
    [
        (f"{ERROR}17.6: src/main/tools/linux-sandbox.cc:233: child exited normally with code 6\n", ""),
        (ERROR, "ERROR: BUILD.bazel:7:13: Assembling the wheel failed: (Exit 6): python failed\n"),
    ],
    ids=["Bazel 4", "Bazel 7"],
)
def test_error_of_a_tool_comes_out_as_it_went_in(stderr: str, text: str) -> None:
    """An error inside an action keeps its class, and so its exit status, and its lines."""
    error = explain_failure(1, failed(stderr, text))
    assert type(error) is ElfError
    assert (error.what, error.cause, error.remedy) == ("a.so in a.whl is not an ELF file", "it starts with b'# '", "")


def test_crash_of_a_tool_is_shown_whole() -> None:
    """A traceback inside an action is a bug, and its lines are what is needed to find it."""
    error = explain_failure(1, failed("Traceback (most recent call last):\nKeyError: 1\n", "failed: (Exit 3): python"))
    assert type(error) is BazelError
    assert error.what == "AssembleWheel of //plugins/cpu:wheel failed with exit status 3"
    assert error.cause == "Traceback (most recent call last):\nKeyError: 1"


def test_bazels_own_errors_are_shown_without_its_chatter() -> None:
    """What is wrong with the graph itself is reported by Bazel."""
    text = "INFO: Invocation ID: 1\nLoading: 0 packages loaded\nERROR: no such target\nINFO: Elapsed time: 1s\n"
    error = explain_failure(7, BuildLog({}, (), text))
    assert str(error) == "Bazel failed with exit status 7\nERROR: no such target"


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("[7 / 9] Assembling the wheel; 25s linux-sandbox\n", (7, 9, ["Assembling the wheel; 25s linux-sandbox"])),
        ("[1,018 / 2,001]\n", (1018, 2001, [])),
        ("Loading: 0 packages loaded\n", (0, 0, ["Loading: 0 packages loaded"])),
        ("INFO: Elapsed time: 3.1s\n", (1, 2, ["a"])),
    ],
)
def test_lines_of_bazel(line: str, state: tuple[int, int, list[str]]) -> None:
    """Counts and what runs, wherever they are there; other lines change nothing."""
    step = Step("Bazel")
    step.report(1, 2, "a")
    report_line(line, step)
    assert (step.done, step.total, step.running) == state
