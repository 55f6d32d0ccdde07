# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Bazel says: its event file, the error in a failure, and how far it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.bazel.events import Action, BuildLog, explain_failure, parse_events, report_line
from pjrtwheel.errors import BazelError, ElfError
from pjrtwheel.program import run_main
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


def test_what_a_build_leaves_and_did() -> None:
    """Outputs come from nested sets of the default group, and actions without bookkeeping.

    A Bazel that was killed leaves half a line, and what is before it counts.
    """
    events = lines_of(
        NAMED,
        OUTER,
        action("//:a", type="AssembleWheel", success=True),
        action("@//:b", type="CompileExtension", exitCode=1),
        action("//:c", type="BazelWorkspaceStatusAction", success=True),
        COMPLETED,
    )
    log = parse_events([*events, '{"id": {"prog'], "said\n")
    actions = (Action("AssembleWheel", "//:a"), Action("CompileExtension", "//:b"))
    assert log == BuildLog({"//plugins/cpu:wheel": (Path("/b/a b.whl"),)}, actions, "said\n")


def test_error_of_a_tool_comes_out_as_it_went_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error inside the graph keeps its class, and so its exit status, and its lines, whatever is around them."""

    def fail(_: object) -> int:
        raise ElfError("a.so in a.whl is not an ELF file", cause="it starts with b'# '")

    monkeypatch.setenv("PJRTWHEEL_MARKED", "1")
    assert run_main(fail, []) == ElfError.exit_code
    text = f"ERROR: BUILD.bazel:7:13: failed: (Exit 6)\n{capsys.readouterr().err}17.6: linux-sandbox.cc\n"
    error = explain_failure(1, BuildLog({}, (), text))
    assert type(error) is ElfError
    assert (error.what, error.cause, error.remedy) == ("a.so in a.whl is not an ELF file", "it starts with b'# '", "")


def test_crash_of_a_tool_is_shown_whole() -> None:
    """A traceback inside an action is a bug, and its lines are what is needed to find it."""
    crash = "ERROR: BUILD.bazel:7:13: failed: (Exit 3)\nTraceback (most recent call last):\nKeyError: 1\n"
    error = explain_failure(1, BuildLog({}, (), f"INFO: Analyzed 1 target\n{crash}"))
    assert (type(error), error.cause) == (BazelError, crash.strip())
    frames = "".join(f"  frame {number}\n" for number in range(30))
    long = crash.replace("KeyError", f"{frames}KeyError") + "FAILED: Build did NOT complete successfully\n"
    lines = explain_failure(1, BuildLog({}, (), long)).cause.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (20, crash.splitlines()[0], "KeyError: 1")


def test_bazels_own_errors_are_shown_without_its_chatter() -> None:
    """What is wrong with the graph itself is reported by Bazel."""
    text = "INFO: Invocation ID: 1\nLoading: 0 packages loaded\nERROR: no such target\nINFO: Elapsed time: 1s\n"
    error = explain_failure(7, BuildLog({}, (), text))
    assert str(error) == "Bazel failed with exit status 7\nERROR: no such target"


def test_what_a_repository_rule_says_is_the_cause() -> None:
    """Without its stack, and without the patch that does not apply."""
    rule = "ERROR: An error occurred during the fetch of repository 'xla':\n   Traceback (most recent call last):\n"
    patch = "Error in patch: Error applying patch /x/a.patch: Incorrect Chunk\n**Original Position**: 17\n"
    assert (
        explain_failure(2, BuildLog({}, (), rule + patch)).cause == "Error applying patch /x/a.patch: Incorrect Chunk"
    )
    commit = "Error in fail: error running 'git reset' while working with @xla:\nfatal: no such object\nERROR: again\n"
    lines = explain_failure(2, BuildLog({}, (), rule + commit)).cause.splitlines()
    assert lines == ["error running 'git reset' while working with @xla:", "fatal: no such object"]


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
