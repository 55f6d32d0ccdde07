# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The file of remote settings: what is read of it, what is refused, and what of it is never printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.bazel.remote import SHIPPED, Remote, parse_remote, read_remote, remote_startup_flags
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
        (b"build --remote_cache=cache:9092 --tls_certificate=/no/such.pem\n", "no such file: /no/such.pem"),
        (b"build --remote_header=authorization=Bearer s3cr3t\n", "{path}: an option is followed by a second word"),
        (b"try-import /etc/farm.bazelrc\n", "{path} imports another file"),
        (b"build --remote_cache=grpc://cache:port\n", "an address in {path} cannot be used"),
        (b"build --remote_executor=cache:99999\n", "an address in {path} cannot be used"),
        (b"build --remote_cache=grpc://[::1:80\n", "an address in {path} cannot be used"),
        (b"build --remote_cache=htp://cache\n", "an address in {path} cannot be used"),
        (b"build --remote_cache=http://\n", "an address in {path} cannot be used"),
        (b"biuld --remote_cache=http://cache\n", "{path} names no server"),
        (b"build --config=remote_cache\n", "{path} names no server"),
        (
            b"build --remote_cache=unix:/run/a --tls_client_certificate=/no/a.pem --tls_client_key=/no/b.pem\n",
            "no such file: /no/a.pem",
        ),
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
    assert parse_remote(Path("a"), line).hide("said: s3cr3t-of-mine.") == "said: [hidden]."


def test_a_password_may_hold_an_at_sign() -> None:
    """It ends before the last one."""
    assert (
        parse_remote(Path("a"), "build --remote_cache=http://u:p@ss-w0rd@cache").hide("u:p@ss-w0rd@") == "u:[hidden]@"
    )


def test_short_values_are_hidden_only_as_words() -> None:
    """As parts of words and paths they would take the sense from what is printed."""
    text = "build --remote_header=x-platform=linux\nbuild --remote_cache=http://me@cache\nbuild --jobs=200"
    said = "name of a member, 2 linux-sandbox, /home/me/linux: 200; x-platform=linux http://me@cache"
    assert parse_remote(Path("a"), text).hide(said) == (
        "name of a member, 2 linux-sandbox, /home/me/linux: 200; x-platform=[hidden] http://[hidden]@cache"
    )


def test_servers_of_configurations_in_use() -> None:
    """A configuration may be taken in by another one, also by those that the repository ships."""
    text = "build:remote_cache --remote_cache=grpc://one\nbuild:more --remote_executor=grpc://two\n"
    assert parse_remote(Path("a"), f"{text}build --config=remote_cache_read").servers == ("grpc://one",)
    assert parse_remote(Path("a"), f"{text}build:a --config=more\nbuild --config=a").servers == ("grpc://two",)


def test_shipped_configurations_are_those_of_the_repository(root: Path) -> None:
    """What they take in is known without reading them."""
    lines = (root / "ci" / "bazelrc" / "remote.bazelrc").read_text("utf-8").splitlines()
    taken = (line.removeprefix("build:").split(" --config=") for line in lines if " --config=" in line)
    assert dict(taken) == SHIPPED


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
