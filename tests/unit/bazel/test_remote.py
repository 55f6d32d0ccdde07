# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The file of remote settings: what is read of it, what is refused, and what of it is never printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.bazel.remote import (
    Remote,
    describe_fallback,
    describe_processes,
    describe_warnings,
    is_remote_failure,
    parse_remote,
    read_remote,
    remote_startup_flags,
)
from pjrtwheel.errors import UsageError

PLAIN = "build --config=remote_cache\nbuild --remote_cache=grpc://cache.example.org:9092\n"
FULL = """\
# Of the farm.
common --remote_header=x-api-key=s3cr3t-of-mine
build --config=farm --remote_cache https://reader:pass%21word@cache.example.org \\
    --tls_certificate=/etc/farm.pem
build:farm --remote_executor=grpcs://farm.example.org --remote_header "authorization=Bearer t0ken.of.mine"
build:other --remote_executor=grpcs://other.example.org
test --remote_header=x-other=of-tests
"""


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    """Write a file with a mode, and return its path."""
    path.write_text(text)
    path.chmod(mode)
    return path


def test_no_file_no_remote_settings() -> None:
    """Without the variable, or with an empty one, Bazel gets no further option."""
    assert read_remote({}) is None
    assert read_remote({"PJRTWHEEL_REMOTE": ""}) is None
    assert remote_startup_flags(None) == ()


def test_a_file_without_credentials_may_be_read_by_others(tmp_path: Path) -> None:
    """Only what identifies the user has to be kept from others."""
    path = write(tmp_path / "farm.bazelrc", PLAIN, 0o644)
    assert read_remote({"PJRTWHEEL_REMOTE": str(path)}) == Remote(path, servers=("grpc://cache.example.org:9092",))


def test_what_is_read(tmp_path: Path) -> None:
    """Options of builds, in both spellings and of the configurations that the file itself uses."""
    certificate = write(tmp_path / "farm.pem", "")
    path = write(tmp_path / "farm.bazelrc", FULL.replace("/etc/farm.pem", str(certificate)))
    remote = read_remote({"PJRTWHEEL_REMOTE": str(path)})
    assert remote == Remote(
        path,
        servers=("https://reader:pass%21word@cache.example.org", "grpcs://farm.example.org"),
        certificate=certificate,
        executes=True,
        secrets=("Bearer t0ken.of.mine", "s3cr3t-of-mine", "t0ken.of.mine", "pass%21word", "pass!word"),
    )
    assert remote_startup_flags(remote) == (f"--bazelrc={path}",)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o602])
def test_credentials_that_others_can_read_are_refused(tmp_path: Path, mode: int) -> None:
    """So are those that others could redirect to a server of theirs."""
    path = write(tmp_path / "farm.bazelrc", FULL, mode)
    with pytest.raises(UsageError) as caught:
        read_remote({"PJRTWHEEL_REMOTE": str(path)})
    assert caught.value.what == f"others can read or change {path}"
    assert caught.value.cause == f"it holds credentials, and its mode is {mode:04o}"
    assert caught.value.remedy == f"chmod 600 {path}"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "cannot read {path}: No such file or directory"),
        (b"\xff", "cannot read {path}: it is not UTF-8"),
        (b'build --remote_header="a\n', "{path}: No closing quotation"),
        (b"build --tls_certificate=/no/such.pem\n", "no such file: /no/such.pem"),
        (b"build --remote_header=authorization=Bearer s3cr3t\n", "{path}: an option is followed by a second word"),
        (b"try-import /etc/farm.bazelrc\n", "{path} imports another file"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: bytes | None, what: str) -> None:
    """Nothing of a file is guessed."""
    path = tmp_path / "farm.bazelrc"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(UsageError) as caught:
        read_remote({"PJRTWHEEL_REMOTE": str(path)})
    assert caught.value.what == what.format(path=path)


def test_credentials_are_hidden() -> None:
    """Wherever they occur, and the longer ones first."""
    remote = parse_remote(Path("a"), FULL)
    text = "x-api-key=s3cr3t-of-mine, authorization=Bearer t0ken.of.mine; https://reader:pass%21word@cache (pass!word)"
    assert remote.hide(text) == "x-api-key=[hidden], authorization=[hidden]; https://reader:[hidden]@cache ([hidden])"
    assert parse_remote(Path("a"), "build --remote_cache=https://t0k3n@cache").hide("t0k3n@") == "[hidden]@"


def test_credentials_are_taken_out_of_bazels_own_logs(tmp_path: Path) -> None:
    """Whatever else is in them stays where it is; a server that writes to the end of one is not disturbed."""
    remote = parse_remote(Path("a"), FULL)
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


def test_a_proxy_is_left_to_bazel() -> None:
    """Behind one, the servers cannot be asked directly."""
    assert not parse_remote(Path("a"), f"{PLAIN}build --remote_proxy=unix:/run/proxy\n").is_direct


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
        (1, "ERROR: a.bzl:1:1: Assembling failed: Missing digest in the remote cache\n", "a.bzl:1:1: Assembling"),
        (1, "ERROR: a.bzl:1:1: Assembling failed: (Exit 6): python failed\n", ""),
        (8, VERSION_4, ""),
    ],
)
def test_failures_of_the_servers(status: int, text: str, problem: str) -> None:
    """Only these are worth another run without the servers."""
    found = is_remote_failure(status, text)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)
