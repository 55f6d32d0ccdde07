# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `tests/conformance/<backend>.toml`: the differences that cannot be avoided, with a reason for each."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel import tables
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
    reason: str = tables.column(pattern=r"(?s)\s*\S.*")

    def matches(self, name: str) -> bool:
        """Return whether this entry is about a case."""
        return fnmatch.fnmatchcase(name, self.case)


@dataclass(frozen=True, slots=True)
class _ExpectedFile:
    difference: tuple[Expected, ...] = ()


def parse_expected(text: str, path: Path) -> tuple[Expected, ...]:
    """Turn the text of such a file into entries.

    Raises:
        UsageError: It is malformed, or an entry gives no reason.
    """
    try:
        return tables.read_toml(_ExpectedFile, text).difference
    except tables.TableError as error:
        raise UsageError(f"malformed list of expected differences: {path}", cause=str(error)) from error


def listed_backends(root: Path) -> tuple[str, ...]:
    """Return the names of the backends that have a list, in order: those that JAX's tests were ever run on."""
    return tuple(sorted(path.stem for path in (root / "tests" / "conformance").glob("*.toml")))


def load_expected(root: Path, backend: str) -> tuple[Expected, ...]:
    """Read the list of a backend; empty if it has none."""
    path = root / "tests" / "conformance" / f"{backend}.toml"
    return parse_expected(path.read_text("utf-8"), path) if path.is_file() else ()
