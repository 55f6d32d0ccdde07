# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Errors keep their three lines apart and have exit codes of their own."""

from pjrtwheel import errors
from pjrtwheel.errors import PjrtWheelError, UsageError


def test_message_has_one_line_per_given_part() -> None:
    """Parts that were not given leave no empty line."""
    assert str(UsageError("unknown backend: 'gpu'", remedy="known backends: cpu")) == (
        "unknown backend: 'gpu'\nknown backends: cpu"
    )


def test_parts_can_be_read_one_by_one() -> None:
    """Callers can look at what, cause and remedy without taking the message apart."""
    error = UsageError("what", cause="cause", remedy="remedy")
    assert (error.what, error.cause, error.remedy, str(error)) == ("what", "cause", "remedy", "what\ncause\nremedy")


def test_a_note_leaves_the_last_line_to_the_command() -> None:
    """Not every shell takes a comment behind one."""
    error = UsageError("what", cause="cause", remedy="make it", note="in its folder")
    assert (error.note, str(error)) == ("in its folder", "what\ncause; in its folder\nmake it")
    assert str(UsageError("what", remedy="make it", note="in its folder")) == "what\nin its folder\nmake it"


def test_exit_codes_are_distinct() -> None:
    """A script can tell the errors apart by their status, and none of them means success."""
    leaves = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PjrtWheelError)]
    codes = [kind.exit_code for kind in leaves]
    assert len(set(codes)) == len(codes)
    assert 0 not in codes
