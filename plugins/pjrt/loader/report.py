# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `python -m <package>` has to say: what was found, what is wrong, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .errors import NoDeviceError, PluginError
from .plugin import Plugin, unfit


def row(label: str, text: str) -> str:
    """Return one line of the report.

    >>> row("library", "a.so"), row("", "b.so")
    ('library     a.so', '            b.so')
    """
    return f"{label:<11} {text}"


class Report:
    """The answers to questions about a plugin.

    Attributes:
        plugin: The plugin.
        lines: What was found.
        problems: What keeps JAX from using the plugin.
        absence: That there is no such hardware here, if so.
    """

    def __init__(self, plugin: Plugin) -> None:
        """Know nothing yet."""
        self.plugin = plugin
        self.lines: list[str] = []
        self.problems: list[PluginError] = []
        self.absence: NoDeviceError | None = None

    def ask(self, question: Callable[[], Iterable[str]]) -> bool:
        """Add what a question finds, or what is wrong instead; return whether nothing is.

        Args:
            question: Returns lines, or raises.
        """
        try:
            self.lines += question()
        except NoDeviceError as error:
            self._note_absence(error)
        except PluginError as error:
            self._note(error)
        except Exception as error:  # noqa: BLE001  # the status of a broken installation is no traceback
            self._note(unfit(self.plugin, error))
        else:
            return True
        return False

    def check(self, question: Callable[[], object]) -> bool:
        """Ask for nothing but whether something is wrong; return whether nothing is."""

        def nothing() -> Iterable[str]:
            question()
            return ()

        return self.ask(nothing)

    def _note_absence(self, error: NoDeviceError) -> None:
        if error.hidden:
            self._note(error)
        else:
            self.absence = error

    def _note(self, error: PluginError) -> None:
        if error.told() not in [problem.told() for problem in self.problems]:
            self.problems.append(error)

    def text(self) -> list[str]:
        """Return all of it, line by line; the last one is the verdict."""
        problems = [line for problem in self.problems for line in _describe(problem)]
        hardware = [row("hardware", self.absence.what)] if self.absence is not None and problems else []
        return [*self.lines, *hardware, *problems, self.verdict()]

    def verdict(self) -> str:
        """Return whether the plugin fits here, and what mends it."""
        distribution = self.plugin.distribution
        if self.problems:
            mending = next((problem.mending() for problem in self.problems if problem.remedy), "")
            return f"{distribution} does not fit here{mending or f': {self.problems[0].what}'}"
        if self.absence is not None:
            return f"{distribution} fits, but JAX cannot use it here: {self.absence.what}{self.absence.mending()}"
        return f"{distribution} fits here: JAX uses it for its platform {self.plugin.name!r}"


def _describe(problem: PluginError) -> list[str]:
    first, *others = problem.told().splitlines()
    return [row("problem", first), *(row("", line) for line in others)]
