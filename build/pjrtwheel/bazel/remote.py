# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of a remote cache or of remote execution, a bazelrc named in PJRTWHEEL_REMOTE, and what Bazel says then.

Bazel reads the file itself, and its own options decide how long it waits and when it goes on here. The file is read
here as well to keep credentials in it from other users, and out of everything that is printed.
"""

import itertools
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from pjrtwheel.errors import UsageError

VARIABLE = "PJRTWHEEL_REMOTE"
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

# Exit statuses of Bazel: its servers failed, are set up wrongly, or have lost what they had.
_STATUSES = frozenset({32, 34, 39})
# Those of this machine and of uploads to a server of events: the servers' only where Bazel warns of them as well.
_DOUBTFUL_STATUSES = frozenset({36, 38})
_FULL_DISK = "No space left on device"
_FAILURE = re.compile(
    r"\bremote (cache|execution|server)\b|BulkTransfer|CacheNotFound|Missing digest|UNAVAILABLE|DEADLINE_EXCEEDED",
    re.IGNORECASE,
)
_WARNING = re.compile(r"WARNING: (?!Option )(?=.*\b[Rr]emote\b)")
# At the end Bazel says: INFO: 19 processes: 7 remote cache hit, 9 internal, 3 linux-sandbox.
_SUMMARY = re.compile(r"^INFO: \d+ process(?:es)?: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Remote:
    """A file of remote settings, and what in it must not be printed; longer values first, as they may hold others."""

    path: Path
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
        UsageError: The file cannot be read, or others can read the credentials in it.
    """
    if not environ.get(VARIABLE):
        return None
    path = Path(environ[VARIABLE]).absolute()
    try:
        remote, mode = Remote(path, find_secrets(path, path.read_text("utf-8"))), path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"cannot read {path}: {reason}", cause=f"{VARIABLE} names it", remedy="give the path of a bazelrc"
        ) from error
    if remote.secrets and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(
            f"others can read or change {path}",
            cause=f"it holds credentials, and its mode is {stat.S_IMODE(mode):04o}",
            remedy=f"chmod 600 {shlex.quote(str(path))}",
        )
    return remote


def find_secrets(path: Path, text: str) -> tuple[str, ...]:
    """Return what of a bazelrc must not be printed.

    Raises:
        UsageError: A line takes in another file, which would escape the checks of this one.
    """
    found = set[str]()
    for line in text.replace("\\\n", "").splitlines():  # nothing takes their place in Bazel either
        words = shlex.split(line, comments=True)
        if words[:1] in (["import"], ["try-import"]):
            raise UsageError(f"{path} imports another file", remedy="write its lines into this one")
        option = given = ""
        for word in words[1:]:
            value = word
            if word.startswith("-"):
                option, given, value = word.partition("=")
            elif given:  # Bazel would take it for a target, and print it
                cause = "a value with spaces, such as that of a header, has to be in quotes"
                raise UsageError(f"{path}: a second word after {option}", cause=cause)
            found.update(filter(None, _secrets(option.removeprefix("--"), value)))
    return tuple(sorted(found, key=lambda secret: (-len(secret), secret)))


def _secrets(name: str, value: str) -> Iterator[str]:
    """Yield what of an option's value must not be printed, in each spelling."""
    key, _, credential = value.partition("=")
    if name not in _NO_CREDENTIALS and "://" not in key:
        yield from (credential, credential.rpartition(" ")[2])
    for login in _LOGIN.findall(value):
        user, given, password = login.partition(":")
        secret = password if given else user
        yield from (secret, unquote(secret))


def _pattern(secret: str) -> str:
    return re.escape(secret) if len(secret) >= _SHORT else _WORD.format(re.escape(secret))


def find_remote_failure(status: int, text: str) -> str:
    """Return what Bazel says of a failure that is its servers' and not the build's; nothing for any other failure."""
    if _FULL_DISK in text:
        return ""
    warnings = remote_warnings(text)
    said = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith(("ERROR:", "FATAL:"))]
    is_theirs = status in _STATUSES or (status in _DOUBTFUL_STATUSES and warnings)
    if not is_theirs and not any(_FAILURE.search(line) for line in said):
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
    """Say how many results came from a cache and from other machines, in Bazel's words; an empty text when none did."""
    parts = ", ".join(_SUMMARY.findall(text)).removesuffix(".").split(", ")
    return ", ".join(part for part in parts if "remote" in part or "cache" in part)
