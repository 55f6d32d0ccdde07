# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `python -m <package>` prints."""

from __future__ import annotations


def verdict_of(text: str) -> str:
    """Return the verdict, which is the first line, and after it the fix, which is the last line if there is any."""
    first, *_, last = text.splitlines()
    return f"{first}. {last}" if last.startswith("To fix it: ") else first
