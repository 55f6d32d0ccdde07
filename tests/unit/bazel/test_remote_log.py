# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Bazel prints of its remote servers, as versions 4 and 7 print it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.bazel.remote import Remote
from pjrtwheel.bazel.remote_log import describe_fallback, describe_processes, describe_warnings, find_remote_failure

VERSION_4 = """\
WARNING: Option 'remote_local_fallback_strategy' is deprecated
WARNING: Reading from Remote Cache:
ClosedChannelException
WARNING: Writing to Remote Cache:
7 errors during bulk transfer
INFO: From Assembling the wheel of jaxlib_tpu:
WARNING: Reading from Remote Cache:
ClosedChannelException
INFO: 19 processes: 7 remote cache hit, 9 internal, 3 linux-sandbox.
"""


def test_warnings_become_one_line() -> None:
    """Each thing once; what warns of anything else is Bazel's own affair."""
    assert describe_warnings(VERSION_4) == "remote: Reading from Remote Cache: ClosedChannelException (and 1 more)"
    other = "WARNING: Remote Cache: Connection refused: /127.0.0.1:9\nWARNING: Build option --define has changed\n"
    assert describe_warnings(other) == "remote: Remote Cache: Connection refused: /127.0.0.1:9"
    assert describe_warnings("WARNING: Build option --define has changed\n") == ""


def test_where_results_came_from() -> None:
    """As Bazel counts them in its last lines."""
    assert describe_processes(VERSION_4) == "7 from the remote cache"
    text = "INFO: 9 processes: 1 disk cache hit, 2 remote cache hit, 1 internal, 5 remote.\n"
    assert describe_processes(text) == "2 from the remote cache, 1 from the disk cache, 5 on other machines"
    assert describe_processes("INFO: 1 process: 1 internal.\n") == ""


def test_what_did_not_run_on_the_farm() -> None:
    """Bazel may fall back without a word; a cache alone runs nothing."""
    farm = Remote(Path("a"), executes=True)
    text = "INFO: 9 processes: 1 internal, 2 linux-sandbox, 1 processwrapper-sandbox, 5 remote.\n"
    assert describe_fallback(farm, text) == "remote: 3 actions ran here, not on the servers of PJRTWHEEL_REMOTE"
    assert describe_fallback(farm, "INFO: 3 processes: 1 internal, 2 remote cache hit.\n") == ""
    assert describe_fallback(Remote(Path("a")), text) == ""


@pytest.mark.parametrize(
    ("status", "text", "problem"),
    [
        (34, "ERROR: Failed to query remote execution capabilities: UNAVAILABLE\n", "Failed to query remote"),
        (36, VERSION_4, "Reading from Remote Cache"),
        (1, "ERROR: Skipping 'a': no such target '//:a' in /home/me/remote/cache\n", ""),
        (39, "", "Bazel ended with exit status 39"),
        (36, "ERROR: Could not copy inputs into sandbox\n", ""),
        (36, f"{VERSION_4}ERROR: a.bzl:1:1: Assembling failed: (No space left on device)\n", ""),
        (38, "ERROR: The Build Event Protocol upload failed\n", ""),
        (1, "ERROR: a.bzl:1:1: Assembling failed: Missing digest in the remote cache\n", "a.bzl:1:1: Assembling"),
        (1, "ERROR: a.bzl:1:1: Assembling failed: (Exit 6): python failed\n", ""),
        (8, VERSION_4, ""),
    ],
)
def test_failures_of_the_servers(status: int, text: str, problem: str) -> None:
    """Only these are worth another run without the servers."""
    found = find_remote_failure(status, text)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)
