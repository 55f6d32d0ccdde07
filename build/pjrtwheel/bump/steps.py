# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of a bump: one that fails is kept for the report, and the others go on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from pjrtwheel.errors import PjrtWheelError
from pjrtwheel.program import print_error

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """One step and how it ended.

    Attributes:
        name: What was done, such as `build cuda12`.
        detail: What came out, in a few words.
        error: Why it failed; nothing if it did not.
    """

    name: str
    detail: str = ""
    error: PjrtWheelError | None = None


@dataclass(slots=True)
class Steps:
    """The steps so far, in order."""

    done: list[Step] = field(default_factory=list)

    def run(self, name: str, work: Callable[[], T], describe: Callable[[T], str] = str) -> T | None:
        """Run a step and return its result; nothing if it failed, which is printed and kept.

        What it prints goes to stderr: stdout is the report's.
        """
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                result = work()
        except PjrtWheelError as error:
            self.fail(name, error)
            return None
        self.add(name, describe(result))
        return result

    def add(self, name: str, detail: str) -> None:
        """Keep a step that succeeded."""
        self.done.append(Step(name, detail))

    def fail(self, name: str, error: PjrtWheelError) -> None:
        """Print and keep the error of a step."""
        print_error(str(error))
        self.done.append(Step(name, error=error))

    def status(self) -> int:
        """Return the exit status: that of the first error."""
        return next((step.error.exit_code for step in self.done if step.error), 0)
