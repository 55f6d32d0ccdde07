# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Every error a user can cause or meet, each with its own exit code, and how messages count.

A message has up to three lines: what happened, the probable cause, what to do.
`program.run_main` is the only place that catches `PjrtWheelError`, prints it without a traceback and turns it into an
exit status.
"""

import difflib
import itertools
from collections.abc import Iterable

_LINE = 90  # characters of a list in a message, which has words before it
_SAID = 200  # characters that are shown of what others said


class PjrtWheelError(Exception):
    """A file that the system refuses, or anything else without a status of its own; the root of all errors here."""

    exit_code = 1

    def __init__(self, what: str, *, cause: str = "", remedy: str = "") -> None:
        """Keep the parts apart, to be tested one by one: what happened, what it means, and what fixes it."""
        self.what = what
        self.cause = cause
        self.remedy = remedy
        super().__init__("\n".join(line for line in (what, cause, remedy) if line))


class UsageError(PjrtWheelError):
    """A name, option or file on the command line that does not exist, such as an unknown backend or release."""

    exit_code = 2


class PinError(PjrtWheelError):
    """A pins file is missing, malformed or cannot be written."""

    exit_code = 3


class FetchError(PjrtWheelError):
    """A pinned file could not be downloaded, or is not the file that was pinned."""

    exit_code = 4


class BazelError(PjrtWheelError):
    """No usable Bazel, or a build that failed or returned other wheels than requested."""

    exit_code = 5


class ElfError(PjrtWheelError):
    """A library that is not the ELF file that is needed here."""

    exit_code = 6


class WheelError(PjrtWheelError):
    """A wheel that is damaged, hostile or cannot be written."""

    exit_code = 7


class VerifyError(PjrtWheelError):
    """A finished wheel that breaks a promise its name or metadata makes."""

    exit_code = 8


class ProofError(PjrtWheelError):
    """A wheel that failed a smoke test, or differs in JAX's own tests in a way that is not listed."""

    exit_code = 9


class PublishError(PjrtWheelError):
    """A destination that refuses a release, fails, or has something else than what was sent."""

    exit_code = 11


class AttestError(PjrtWheelError):
    """A release that is not what its checksums, statement or signature say."""

    exit_code = 12


class ReproduceError(PjrtWheelError):
    """A release that was not, or cannot be, built again to the same bytes."""

    exit_code = 13


class UnsignedError(PjrtWheelError):
    """A release that is whole and belongs together, of which no key was given to check who made it."""

    exit_code = 14


def explain(error: Exception) -> str:
    """Return why something cannot be read, without the words that Python has for programmers.

    >>> explain(KeyError("tag"))
    "it lacks 'tag'"
    """
    match error:
        case OSError():
            return error.strerror or str(error)
        case UnicodeDecodeError():
            return "it is not text in UTF-8"
        case KeyError():
            return f"it lacks {error}"
        case TypeError() | AttributeError():
            return "a value in it is of another kind than expected"
    return str(error)


def shorten(values: Iterable[str], shown: int, separator: str = ", ") -> str:
    """Return a list in words, cut after some entries.

    >>> shorten(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    entries = list(values)
    more = f" and {len(entries) - shown} more" if len(entries) > shown else ""
    return separator.join(entries[:shown]) + more


def printable(text: str, most: int | None = _SAID) -> str:
    r"""Return a text of others as a part of one line of a terminal, with nothing that it would obey.

    Args:
        text: The text.
        most: How many characters are shown at most; all of them if it is None.

    >>> printable("lost\x1b[2J\nfound "), printable("a\x00b", 4)
    ('lost\\x1b[2J found', 'a\\x0')
    """
    shown = (
        letter if letter.isprintable() else " " if letter.isspace() else letter.encode("unicode_escape").decode()
        for letter in text
    )
    return "".join(shown)[:most].strip()


def fit(values: Iterable[str], separator: str = ", ") -> str:
    """Return a list in words, cut where a line is full; the first entry is always there.

    >>> fit(["a", "b", "c"]), fit(["a" * 80, "b" * 80, "c" * 80])[80:]
    ('a, b, c', ' and 2 more')
    """
    entries = list(values)
    ends = itertools.accumulate(len(entry) + len(separator) for entry in entries)
    return shorten(entries, max(1, sum(end <= _LINE for end in ends)), separator)


def list_choices(known: Iterable[str], word: str) -> str:
    """Return what can be chosen in the place of a word: all of it, or the nearest where a line has no room for more.

    >>> list_choices(["cpu", "tpu"], "gpu"), list_choices([], "gpu")
    ('cpu, tpu', 'none')
    >>> list_choices([f"{name}-{'x' * 40}" for name in ("cpu", "tpu", "rocm")], "rocm7")
    'rocm-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx and 2 more'
    """
    choices = list(known)
    if fit(choices) != ", ".join(choices):
        choices = difflib.get_close_matches(word, choices, n=len(choices), cutoff=0)
    return fit(choices) or "none"


def count(number: int, noun: str) -> str:
    """Return a number with what it counts.

    >>> count(1, "target"), count(2, "target")
    ('1 target', '2 targets')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def describe_size(size: int) -> str:
    """Return a number of bytes as people read it.

    >>> describe_size(99_800_000), describe_size(4_321), describe_size(12)
    ('99.8 MB', '4.3 kB', '12 bytes')
    """
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
