# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of a remote cache or of remote execution: a bazelrc of the user's, named in PJRTWHEEL_REMOTE.

Bazel reads the file itself. It is read here as well, for what Bazel does not do: demand that nobody else can read
credentials, keep those out of everything that is printed, and ask first whether the servers answer.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pjrtwheel.errors import UsageError

VARIABLE = "PJRTWHEEL_REMOTE"
_COMMANDS = frozenset({"always", "build", "common"})
_SERVERS = ("remote_cache", "remote_executor")
_SCHEMES = ("", "grpc", "grpcs", "http", "https")
# What the repository's own configurations (ci/bazelrc/remote.bazelrc) take in; a test compares.
SHIPPED = {"remote_cache_read": "remote_cache", "remote_executor": "remote_cache"}
# Values of these are name=value as well, but name no user. Any other such value may be a credential: headers have
# several options, and Bazel prints a misspelt one.
_NO_CREDENTIALS = frozenset(
    {
        "define",
        "local_resources",
        "modify_execution_info",
        "remote_default_exec_properties",
        "remote_default_platform_properties",
        "strategy",
        "strategy_regexp",
    }
)
_LOGIN = re.compile(r"[a-z][a-z0-9+.-]*://([^/\s]+)@", re.IGNORECASE)
_HIDDEN = "[hidden]"
# A shorter one could be part of any word or path, and so is hidden only where it is a word of its own.
_SHORT = 8
_WORD = r"(?<![\w.-])(?<![^/]/){}(?![\w./-])"


@dataclass(frozen=True, slots=True)
class Remote:
    """What a file of remote settings says.

    Attributes:
        path: The file.
        servers: Addresses of cache and executor.
        certificate: File with the authority that signed the servers' certificates; none for those Bazel knows.
        client: Files with the certificate and the key by which servers know this client; none where they need not.
        is_direct: Whether the servers are reached without a proxy.
        executes: Whether actions are to run there.
        secrets: What must not be printed.
    """

    path: Path
    servers: tuple[str, ...] = ()
    certificate: Path | None = None
    client: tuple[Path, Path] | None = None
    is_direct: bool = True
    executes: bool = False
    secrets: tuple[str, ...] = ()

    def hide(self, text: str) -> str:
        """Return a text without the credentials in the file."""
        for secret in self.secrets:
            text = re.sub(_pattern(secret), _HIDDEN, text)
        return text

    def hide_in_logs(self, output_base: Path) -> None:
        """Take the credentials out of what Bazel keeps: all that it printed, and all options of each command.

        They are replaced in place, since a server may be writing to the end of its log.
        """
        for path in (output_base / "command.log", *output_base.glob("java.log*")):
            with suppress(FileNotFoundError), path.open("r+b") as log:
                data = log.read()
                for secret in self.secrets:
                    for match in re.finditer(_pattern(secret).encode(), data):
                        log.seek(match.start())
                        log.write(b"*" * len(match[0]))


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
    if not remote.servers:
        raise UsageError(
            f"{path} names no server",
            cause=f"{VARIABLE} names it, and no line for `build` has a --remote_cache or a --remote_executor",
            remedy=f"name one, as docs/remote.md shows, or unset {VARIABLE}",
        )
    if remote.secrets and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(
            f"others can read or change {path}",
            cause=f"it holds credentials, and its mode is {stat.S_IMODE(mode):04o}",
            remedy=f"chmod 600 {shlex.quote(str(path))}",
        )
    for file in (remote.certificate, *(remote.client or ())):
        if file and not file.is_file():
            raise UsageError(f"no such file: {file}", cause=f"an option in {path} names it")
    return remote


def parse_remote(path: Path, text: str) -> Remote:
    """Read the lines of a bazelrc that are about servers.

    Raises:
        UsageError: A line cannot be read, or takes in another file, which would escape the checks of this one.
    """
    lines = list(_parse_lines(path, text))
    values = dict(_enabled(lines))  # as Bazel does, the last one wins
    certificate = values.get("tls_certificate")
    client = values.get("tls_client_certificate"), values.get("tls_client_key")
    return Remote(
        path,
        servers=tuple(dict.fromkeys(_check_address(path, values[name]) for name in _SERVERS if values.get(name))),
        certificate=Path(certificate) if certificate else None,
        client=(Path(client[0]), Path(client[1])) if client[0] and client[1] else None,
        is_direct=not values.get("remote_proxy"),
        executes=bool(values.get("remote_executor")),
        secrets=_order({secret for _, name, value in lines for secret in _secrets(name, value)}),
    )


def _order(secrets: set[str]) -> tuple[str, ...]:
    """Put longer ones first: they may hold shorter ones."""
    return tuple(sorted(secrets, key=lambda secret: (-len(secret), secret)))


def _parse_lines(path: Path, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield configuration, name and value of every option for builds; the name is without its dashes."""
    for line in text.replace("\\\n", "").splitlines():  # nothing takes their place in Bazel either
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


def _enabled(options: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
    """Leave out the options of configurations that nothing uses."""
    takes_in = list(SHIPPED.items())
    takes_in += [(configuration, value) for configuration, name, value in options if name == "config"]
    used = {""}
    while new := {taken for taker, taken in takes_in if taker in used} - used:
        used |= new
    return ((name, value) for configuration, name, value in options if configuration in used)


def _check_address(path: Path, address: str) -> str:
    """Return an address as it is; a `UsageError` does not repeat it, since it may hold a login."""
    if address.startswith("unix:"):
        return address
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        problem = "it names no host" if parts.hostname is None or parts.port == 0 else ""
    except ValueError as error:
        parts, problem = urlsplit(""), str(error).lower()
    if parts.scheme not in _SCHEMES:
        problem = f"{parts.scheme}:// is none of {', '.join(f'{scheme}://' for scheme in _SCHEMES if scheme)}, unix:"
    if problem:
        raise UsageError(f"an address in {path} cannot be used", cause=problem)
    return address


def _secrets(name: str, value: str) -> Iterator[str]:
    """Yield what of an option's value must not be printed, in each spelling."""
    _, named, credential = value.partition("=")
    if named and name not in _NO_CREDENTIALS and "://" not in value.partition("=")[0]:
        yield from filter(None, {credential, credential.rpartition(" ")[2]})
    for login in _LOGIN.findall(value):
        user, given, password = login.partition(":")
        secret = password if given else user
        yield from filter(None, {secret, unquote(secret)})


def _pattern(secret: str) -> str:
    return re.escape(secret) if len(secret) >= _SHORT else _WORD.format(re.escape(secret))


def remote_startup_flags(remote: Remote | None) -> tuple[str, ...]:
    """Return the startup options by which Bazel reads the file, after all others."""
    return (f"--bazelrc={os.fspath(remote.path)}",) if remote else ()
