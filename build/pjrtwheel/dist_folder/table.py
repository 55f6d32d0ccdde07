# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheels of a folder as a table in Markdown, for the summary of a workflow or the notes of a release."""

from __future__ import annotations

from collections.abc import Iterable

from pjrtwheel.dist_folder.summary import describe_level
from pjrtwheel.record.entries import Entry

_HEAD = ("wheel", "size", "proof", "lock", "sha256")


def format_table(entries: Iterable[Entry]) -> str:
    """Return one row for each wheel, in order of file name."""
    rows = [_row(entry) for entry in sorted(entries, key=lambda entry: entry.filename)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (_HEAD, ("---",) * len(_HEAD), *rows))


def _row(entry: Entry) -> tuple[str, ...]:
    proof = describe_level(entry).replace("|", "\\|")
    return (f"`{entry.filename}`", f"{entry.size / 1e6:.1f} MB", proof, entry.lock_id[:8], f"`{entry.sha256}`")
