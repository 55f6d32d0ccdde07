# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, for users: each error says what happened, the likely cause, and what to do."""

from __future__ import annotations


class SelectError(Exception):
    """Anything else that failed; the root of all errors of this package, with a message of one to three lines.

    Args:
        what: What happened, with the value that was refused.
        cause: Why, as far as it is known.
        remedy: What to do: the next command, or the expected form.
        note: What else there is to know about the remedy; in the line before it, so that a command can be pasted.
    """

    exit_code = 1

    def __init__(self, what: str, *, cause: str = "", remedy: str = "", note: str = "") -> None:
        """Compose the message."""
        middle = "; ".join(filter(None, (cause, note)))
        super().__init__("\n".join(line for line in (what, middle, remedy) if line))
        self.what = what
        self.cause = cause
        self.remedy = remedy
        self.note = note


class UsageError(SelectError):
    """An argument, a variable or a configuration file says what this program does not understand."""

    exit_code = 2


class MachineError(SelectError):
    """A machine description is not JSON, or not of the documented form."""

    exit_code = 2


class FactsError(SelectError):
    """The facts about the wheels of a release are missing or damaged."""


class ResolverError(SelectError):
    """A resolver is missing, or failed."""


class PolicyError(SelectError):
    """The policy asks for what this machine or this release cannot give."""

    exit_code = 3


class BackendError(SelectError, RuntimeError):
    """A backend was asked for that is not available here; the remedy is the command that installs it."""

    exit_code = 3


class InstallError(SelectError):
    """The installer is missing or failed, or the package index cannot be reached."""

    exit_code = 4


class LockError(SelectError):
    """A lock cannot be read, written or trusted."""

    exit_code = 5
