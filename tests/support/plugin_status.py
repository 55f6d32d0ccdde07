# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `python -m <package>` prints."""

_FIX = "To fix it"


def verdict_of(text: str) -> str:
    """Return the verdict, the first line, with the fix and a note on it, the last lines if there are any."""
    lines = text.splitlines()
    if not lines[-1].startswith(f"{_FIX}: "):
        return lines[0]
    note = f" ({lines[-2][12:]})" if lines[-2].startswith("note ") else ""
    return f"{lines[0]}. {lines[-1].replace(_FIX, f'{_FIX}{note}', 1)}"
