# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The one message a user needs, out of all that a failed Bazel build prints."""

from __future__ import annotations

import pytest

from pjrtwheel.bazel.events import Action, BuildLog
from pjrtwheel.bazel.failures import explain_failure
from pjrtwheel.errors import BazelError, ElfError

ERROR = "error: a.so in a.whl is not an ELF file\n       it starts with b'# '\n"


def failed(stderr: str) -> BuildLog:
    """Return the log of a build whose only action failed; Bazel's events say 1 whatever the tool's status was."""
    action = Action("AssembleWheel", "//plugins/cpu:wheel", "x", success=False, exit_code=1, stderr=stderr)
    return BuildLog({}, (action,), "")


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
    error = explain_failure(1, failed(stderr), text)
    assert type(error) is ElfError
    assert (error.what, error.cause, error.remedy) == ("a.so in a.whl is not an ELF file", "it starts with b'# '", "")


def test_crash_of_a_tool_is_shown_whole() -> None:
    """A traceback inside an action is a bug, and its lines are what is needed to find it."""
    error = explain_failure(1, failed("Traceback (most recent call last):\nKeyError: 1\n"), "failed: (Exit 3): python")
    assert type(error) is BazelError
    assert error.what == "AssembleWheel of //plugins/cpu:wheel failed with exit status 3"
    assert error.cause == "Traceback (most recent call last):\nKeyError: 1"


def test_bazels_own_errors_are_shown_without_its_chatter() -> None:
    """What is wrong with the graph itself is reported by Bazel."""
    text = "INFO: Invocation ID: 1\nLoading: 0 packages loaded\nERROR: no such target\nINFO: Elapsed time: 1s\n"
    error = explain_failure(7, BuildLog({}, (), ""), text)
    assert str(error) == "Bazel failed with exit status 7\nERROR: no such target"
