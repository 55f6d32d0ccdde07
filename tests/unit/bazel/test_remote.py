# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The file of remote settings: what of it is never printed; and what Bazel says of its servers, in versions 4 and 7."""

from pathlib import Path

import pytest

from pjrtwheel.bazel.remote import (
    Remote,
    describe_processes,
    describe_warnings,
    find_remote_failure,
    find_secrets,
    read_remote,
)
from pjrtwheel.errors import UsageError
from release_under_test import ROOT

PLAIN = "build --config=remote_cache\nbuild --remote_cache=grpc://cache.example.org:9092\n"
FULL = (ROOT / "tests/data/farm.bazelrc").read_text("utf-8")


def remote_of(text: str) -> Remote:
    """Return the settings in a text."""
    return Remote(Path("a"), find_secrets(Path("a"), text))


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    """Write a file with a mode, and return its path."""
    path.write_text(text)
    path.chmod(mode)
    return path


def test_what_is_read(tmp_path: Path) -> None:
    """Without the variable Bazel gets no further option; a file without credentials may be read by others."""
    assert read_remote({}) is read_remote({"PJRTWHEEL_REMOTE": ""}) is None
    plain = write(tmp_path / "plain.bazelrc", PLAIN, 0o644)
    assert read_remote({"PJRTWHEEL_REMOTE": str(plain)}) == Remote(plain)
    path = write(tmp_path / "farm.bazelrc", FULL)
    remote = read_remote({"PJRTWHEEL_REMOTE": str(path)})
    secrets = ("Bearer t0ken.of.mine", "s3cr3t-of-mine", "t0ken.of.mine", "pass%21word", "pass!word", "of-tests")
    assert remote == Remote(path, secrets)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o602])
def test_credentials_that_others_can_read_are_refused(tmp_path: Path, mode: int) -> None:
    """So are those that others could redirect to a server of theirs."""
    path = write(tmp_path / "farm.bazelrc", FULL, mode)
    with pytest.raises(UsageError) as caught:
        read_remote({"PJRTWHEEL_REMOTE": str(path)})
    assert f"{mode:04o}" in caught.value.cause
    assert caught.value.remedy == f"chmod 600 {path}"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "No such file or directory"),
        (b"\xff", "can't decode"),
        (b'build --remote_header="a\n', "No closing quotation"),
        (b"build --remote_header=authorization=Bearer s3cr3t\n", "a second word after --remote_header"),
        (b"try-import /etc/farm.bazelrc\n", "imports another file"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: bytes | None, what: str) -> None:
    """Nothing of a file is guessed, and none of its words is repeated."""
    path = tmp_path / "farm.bazelrc"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(UsageError) as caught:
        read_remote({"PJRTWHEEL_REMOTE": str(path)})
    assert what in caught.value.what
    assert "s3cr3t" not in str(caught.value)


def test_credentials_are_hidden() -> None:
    """Wherever they occur, and the longer ones first."""
    remote = remote_of(FULL)
    text = "x-api-key=s3cr3t-of-mine, authorization=Bearer t0ken.of.mine; https://reader:pass%21word@cache (pass!word)"
    assert remote.hide(text) == "x-api-key=[hidden], authorization=[hidden]; https://reader:[hidden]@cache ([hidden])"
    assert remote_of("build --remote_cache=https://t0k3n@cache").hide("t0k3n@") == "[hidden]@"
    assert remote_of("build --remote_cache=http://u:p@ss-w0rd@cache").hide("u:p@ss-w0rd@") == "u:[hidden]@"


@pytest.mark.parametrize(
    "line",
    [
        "build:unused --remote_header=authorization=s3cr3t-of-mine",
        "build:remote_cache --remote_header=authorization=s3cr3t-of-mine",
        "build --remote_haeder=authorization=s3cr3t-of-mine",
        "build --repo_env=HTTPS_PROXY=http://me:s3cr3t-of-mine@proxy",
        "build --remote_cache=HTTPS://me:s3cr3t-of-mine@cache",
        "build --remote_cache=http://me:s3cr3t-of-m\\\nine@cache",
        "build '--remote_header=authorization=Basic s3cr3t-\\\nof-mine'",
    ],
)
def test_credentials_are_found_in_every_line(line: str) -> None:
    """Bazel prints misspelt options, and lines that only the repository's configurations take in."""
    assert remote_of(line).hide("said: s3cr3t-of-mine.") == "said: [hidden]."


def test_short_values_are_hidden_only_as_words() -> None:
    """As parts of words and paths they would take the sense from what is printed."""
    text = "build --remote_header=x-platform=linux\nbuild --remote_cache=http://me@cache\nbuild --jobs=200"
    said = "name of a member, 2 linux-sandbox, /home/me/linux: 200; x-platform=linux http://me@cache"
    assert remote_of(text).hide(said) == (
        "name of a member, 2 linux-sandbox, /home/me/linux: 200; x-platform=[hidden] http://[hidden]@cache"
    )


def test_credentials_are_taken_out_of_bazels_own_logs(tmp_path: Path) -> None:
    """Whatever else is in them stays where it is; a server that writes to the end of one is not disturbed."""
    remote = remote_of(FULL)
    remote.hide_in_logs(tmp_path)
    line = b"\xff x-api-key=s3cr3t-of-mine, https://reader:pass%21word@cache, x-api-key=s3cr3t-of-mine\n"
    names = ("command.log", "java.log.host.user", "server.log")
    for name in names:
        (tmp_path / name).write_bytes(line)
    (tmp_path / "java.log").symlink_to("java.log.host.user")
    with (tmp_path / "java.log").open("ab", buffering=0) as server:
        remote.hide_in_logs(tmp_path)
        server.write(b"more\n")
    hidden = line.replace(b"s3cr3t-of-mine", b"*" * 14).replace(b"pass%21word", b"*" * 11)
    assert [(tmp_path / name).read_bytes() for name in names] == [hidden, hidden + b"more\n", line]


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
