# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `tests/conformance/<backend>.toml`: the differences that cannot be avoided, with a reason for each."""

from __future__ import annotations

import fnmatch
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.conformance.cases import Outcome
from pjrtwheel.errors import UsageError


@dataclass(frozen=True, slots=True)
class Expected:
    """One unavoidable difference.

    Attributes:
        case: Name of the case, or a pattern with `*`.
        outcome: What becomes of it on the plugin.
        reason: Why, in one sentence.
    """

    case: str
    outcome: Outcome
    reason: str

    def matches(self, name: str) -> bool:
        """Tell whether this entry is about a case."""
        return fnmatch.fnmatchcase(name, self.case)


def parse_expected(text: str, path: Path) -> tuple[Expected, ...]:
    """Turn the text of such a file into entries.

    Raises:
        UsageError: It is malformed, or an entry gives no reason.
    """
    try:
        entries = tuple(
            Expected(entry["case"], Outcome(entry["outcome"]), entry["reason"].strip())
            for entry in tomllib.loads(text).get("difference", [])
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"malformed list of expected differences: {path}", cause=repr(error)) from error
    unexplained = [entry.case for entry in entries if not entry.reason]
    if unexplained:
        raise UsageError(f"{path} gives no reason for {', '.join(unexplained)}")
    return entries


def listed_backends(root: Path) -> tuple[str, ...]:
    """Return the names of the backends that have a list, in order: those that JAX's tests were ever run on."""
    return tuple(sorted(path.stem for path in (root / "tests" / "conformance").glob("*.toml")))


def load_expected(root: Path, backend: str) -> tuple[Expected, ...]:
    """Read the list of a backend; empty if it has none."""
    path = root / "tests" / "conformance" / f"{backend}.toml"
    return parse_expected(path.read_text("utf-8"), path) if path.is_file() else ()
