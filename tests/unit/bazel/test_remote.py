# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The file of remote settings, and what Bazel says of its servers, in versions 4 and 7."""

from pathlib import Path

import pytest

from pjrtwheel.bazel.remote import describe_processes, describe_warnings, read_remote
from pjrtwheel.errors import UsageError
from release_under_test import ROOT


def test_the_file_that_the_environment_names(tmp_path: Path) -> None:
    """Without the variable Bazel gets no further option."""
    assert read_remote({}) is read_remote({"PJRTWHEEL_REMOTE": ""}) is None
    path = tmp_path / "farm.bazelrc"
    path.touch(0o600)
    assert read_remote({"PJRTWHEEL_REMOTE": str(path)}) == path


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o602])
def test_a_file_that_others_can_read_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    """They would have its credentials, or could name a server of theirs."""
    path = tmp_path / "farm.bazelrc"
    path.touch()
    path.chmod(mode)
    with pytest.raises(UsageError) as caught:
        read_remote({"PJRTWHEEL_REMOTE": str(path)})
    assert caught.value.remedy == f"chmod 600 {path}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(UsageError) as caught:
        read_remote({"PJRTWHEEL_REMOTE": str(tmp_path / "farm.bazelrc")})
    assert caught.value.what == f"no such file: {tmp_path / 'farm.bazelrc'}"


VERSION_4 = (ROOT / "tests/data/bazel_4_warnings.txt").read_text("utf-8")


def test_warnings_become_one_line() -> None:
    """Each thing once; what warns of anything else is Bazel's own affair."""
    assert describe_warnings(VERSION_4) == "remote: Reading from Remote Cache: ClosedChannelException (and 1 more)"
    other = "WARNING: Remote Cache: Connection refused: /127.0.0.1:9\nWARNING: Build option --define has changed\n"
    assert describe_warnings(other) == "remote: Remote Cache: Connection refused: /127.0.0.1:9"
    assert describe_warnings("WARNING: Build option --define has changed\n") == ""


def test_where_results_came_from() -> None:
    """As Bazel counts them in its last lines."""
    assert describe_processes(VERSION_4) == "7 remote cache hit"
    text = "INFO: 9 processes: 1 disk cache hit, 2 remote cache hit, 1 internal, 5 remote.\n"
    assert describe_processes(text) == "1 disk cache hit, 2 remote cache hit, 5 remote"
    assert describe_processes("INFO: 1 process: 1 internal.\n") == ""
