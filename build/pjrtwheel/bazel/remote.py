# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of a remote cache or of remote execution: a bazelrc of the user's, named in PJRTWHEEL_REMOTE.

Bazel reads the file itself. It is read here as well, for what Bazel does not do: demand that nobody else can read
credentials, keep those out of everything that is printed, and ask first whether the servers answer.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pjrtwheel.errors import UsageError, count

VARIABLE = "PJRTWHEEL_REMOTE"
_COMMANDS = frozenset({"always", "build", "common"})
_SERVERS = ("remote_cache", "remote_executor")
# Values of these are name=value, and hold what a server knows the user by.
_HEADERS = frozenset(
    {"remote_header", "remote_cache_header", "remote_exec_header", "remote_downloader_header", "bes_header"}
)
_HIDDEN = "[hidden]"
# Exit statuses of Bazel for what is its servers' fault, or was lost there.
_STATUSES = frozenset({32, 34, 36, 38, 39})
_FAILURE = re.compile(
    r"\bremote (cache|execution|server)\b|BulkTransfer|CacheNotFound|Missing digest|UNAVAILABLE|DEADLINE_EXCEEDED",
    re.IGNORECASE,
)
_WARNING = re.compile(r"WARNING: (?!Option )(?=.*\b[Rr]emote\b)")
# At the end Bazel says: INFO: 19 processes: 7 remote cache hit, 9 internal, 3 linux-sandbox.
_SUMMARY = re.compile(r"^INFO: \d+ process(?:es)?: (.*)$", re.MULTILINE)
_PROCESS = re.compile(r"(\d+) ([a-z][a-z -]*)")
_LOCAL = re.compile(r"sandbox|local|worker")
_PLACES = {
    "remote cache hit": "from the remote cache",
    "disk cache hit": "from the disk cache",
    "remote": "on other machines",
}


@dataclass(frozen=True, slots=True)
class Remote:
    """What a file of remote settings says.

    Attributes:
        path: The file.
        servers: Addresses of cache and executor.
        certificate: File with the authority that signed the servers' certificates; none for those Bazel knows.
        is_direct: Whether the servers are reached without a proxy.
        executes: Whether actions are to run there.
        secrets: What must not be printed.
    """

    path: Path
    servers: tuple[str, ...] = ()
    certificate: Path | None = None
    is_direct: bool = True
    executes: bool = False
    secrets: tuple[str, ...] = ()

    def hide(self, text: str) -> str:
        """Return a text without the credentials in the file."""
        for secret in self.secrets:
            text = text.replace(secret, _HIDDEN)
        return text

    def hide_in_logs(self, output_base: Path) -> None:
        """Take the credentials out of what Bazel keeps: all that it printed, and all options of each command.

        They are replaced in place, since a server may be writing to the end of its log.
        """
        for path in (output_base / "command.log", *output_base.glob("java.log*")):
            with suppress(FileNotFoundError), path.open("r+b") as log:
                data = log.read()
                for secret in map(str.encode, self.secrets):
                    for match in re.finditer(re.escape(secret), data):
                        log.seek(match.start())
                        log.write(b"*" * len(secret))


def read_remote(environ: Mapping[str, str]) -> Remote | None:
    """Return the settings that the environment names; nothing when it names none.

    Raises:
        UsageError: It or the certificate in it cannot be read, or others can read the credentials in it.
    """
    if not environ.get(VARIABLE):
        return None
    path = Path(environ[VARIABLE]).absolute()
    try:
        text, mode = path.read_text("utf-8"), path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"cannot read {path}: {reason}", cause=f"{VARIABLE} names it", remedy="give the path of a bazelrc"
        ) from error
    remote = parse_remote(path, text)
    if remote.secrets and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(
            f"others can read or change {path}",
            cause=f"it holds credentials, and its mode is {stat.S_IMODE(mode):04o}",
            remedy=f"chmod 600 {shlex.quote(str(path))}",
        )
    if remote.certificate and not remote.certificate.is_file():
        raise UsageError(f"no such file: {remote.certificate}", cause=f"--tls_certificate in {path} names it")
    return remote


def parse_remote(path: Path, text: str) -> Remote:
    """Read the lines of a bazelrc that are about servers.

    Raises:
        UsageError: A line cannot be read, or takes in another file, which would escape the checks of this one.
    """
    options = list(_enabled(_parse_lines(path, text)))
    values = dict(options)  # as Bazel does, the last one wins
    certificate = values.get("tls_certificate")
    return Remote(
        path,
        servers=tuple(dict.fromkeys(values[name] for name in _SERVERS if values.get(name))),
        certificate=Path(certificate) if certificate else None,
        is_direct=not values.get("remote_proxy"),
        executes=bool(values.get("remote_executor")),
        secrets=tuple(sorted({secret for option in options for secret in _secrets(*option)}, key=len, reverse=True)),
    )


def _parse_lines(path: Path, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield configuration, name and value of every option for builds; the name is without its dashes."""
    for line in text.replace("\\\n", " ").splitlines():
        try:
            command, *arguments = shlex.split(line, comments=True) or [""]
        except ValueError as error:
            raise UsageError(f"{path}: {error}", remedy="see https://bazel.build/run/bazelrc for its form") from error
        if command in {"import", "try-import"}:
            raise UsageError(f"{path} imports another file", remedy="write its lines into this one")
        kind, _, configuration = command.partition(":")
        if kind in _COMMANDS:
            for name, value in _options(path, arguments):
                yield configuration, name, value


def _options(path: Path, arguments: list[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values of options, whether an equals sign or a space is between the two.

    Raises:
        UsageError: A word is neither; Bazel would take it for a target, and print it.
    """
    pending = list(arguments)
    while pending:
        option, given, value = pending.pop(0).partition("=")
        if not option.startswith("-"):
            raise UsageError(
                f"{path}: an option is followed by a second word",
                cause="a value with spaces, such as that of a header, has to be in quotes",
                remedy="write build '--remote_header=authorization=Bearer ...'",
            )
        if not given and pending and not pending[0].startswith("-"):
            value = pending.pop(0)
        yield option.removeprefix("--"), value


def _enabled(options: Iterator[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
    """Leave out the options of configurations that the file defines but does not use."""
    known = list(options)
    used = {"", *(value for _, name, value in known if name == "config")}
    return ((name, value) for configuration, name, value in known if configuration in used)


def _secrets(name: str, value: str) -> Iterator[str]:
    if name in _HEADERS:
        credential = value.partition("=")[2]
        yield from filter(None, {credential, credential.rpartition(" ")[2]})
    password = re.match(r"[a-z+]+://[^/@]*:([^/@]+)@", value)
    if password:
        yield from {password.group(1), unquote(password.group(1))}
    elif re.match(r"[a-z+]+://[^/@]+@", value):
        yield urlsplit(value).username or ""


def remote_startup_flags(remote: Remote | None) -> tuple[str, ...]:
    """Return the startup options by which Bazel reads the file, after all others."""
    return (f"--bazelrc={os.fspath(remote.path)}",) if remote else ()


def is_remote_failure(status: int, text: str) -> str:
    """Return what Bazel says of a failure that is its servers' and not the build's; nothing for any other failure."""
    warnings = remote_warnings(text)
    said = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith(("ERROR:", "FATAL:"))]
    if status not in _STATUSES and not any(_FAILURE.search(line) for line in said):
        return ""
    return next(iter([*filter(_FAILURE.search, said), *warnings, *said]), f"Bazel ended with exit status {status}")


def remote_warnings(text: str) -> tuple[str, ...]:
    """Return what Bazel warns of its servers, each thing once, as one line."""
    found = dict.fromkeys(
        f"{line} {following}" if line.endswith(":") else line  # version 4 writes the reason on a line of its own
        for line, following in itertools.pairwise([*text.splitlines(), ""])
        if _WARNING.match(line)
    )
    return tuple(line.removeprefix("WARNING: ").strip() for line in found)


def describe_warnings(text: str) -> str:
    """Say in one line what Bazel warns of its servers; an empty text when it does not."""
    warnings = remote_warnings(text)
    more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
    return f"remote: {warnings[0]}{more}" if warnings else ""


def describe_processes(text: str) -> str:
    """Say how many results came from a cache and from other machines; an empty text when none did."""
    counts = _count_processes(text)
    parts = ((counts.get(kind, 0), words) for kind, words in _PLACES.items())
    return ", ".join(f"{number} {words}" for number, words in parts if number)


def describe_fallback(remote: Remote, text: str) -> str:
    """Say in one line how many actions ran here instead of on the farm, of which Bazel need not say anything."""
    here = sum(number for kind, number in _count_processes(text).items() if _LOCAL.search(kind))
    return (
        f"remote: {count(here, 'action')} ran here, not on the servers of {VARIABLE}"
        if here and remote.executes
        else ""
    )


def _count_processes(text: str) -> dict[str, int]:
    return {kind: int(number) for number, kind in _PROCESS.findall("".join(_SUMMARY.findall(text)))}
