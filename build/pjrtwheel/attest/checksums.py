# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`SHA256SUMS`, in the format of sha256sum(1), which checks it with `sha256sum -c`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pjrtwheel.errors import WheelError, explain

SUMS_FILENAME = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([\w.+!-]+)")  # a name without a folder, as all of a release have


def format_sums(digests: Mapping[str, str]) -> str:
    r"""Return the text for files by name, in order of name.

    >>> format_sums({"a.whl": "0" * 64})[60:]
    '0000  a.whl\n'
    """
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def parse_sums(text: str) -> dict[str, str]:
    """Return file name → sha256.

    Raises:
        WheelError: A line is none of sha256sum's, names a file outside the folder, or one twice.
    """
    digests: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None or match[2] in digests or match[2] in {".", ".."}:
            raise WheelError(
                f"{SUMS_FILENAME} is damaged in line {number}",
                cause="expected a sha256 and a file name, each file once",
                remedy="copy the release again",
            )
        digests[match[2]] = match[1]
    return digests


def read_sums(data: bytes) -> dict[str, str]:
    """Return file name → sha256 of a file as it lies there; see `parse_sums`."""
    try:
        return parse_sums(data.decode())
    except UnicodeDecodeError as error:
        raise WheelError(
            f"{SUMS_FILENAME} is damaged", cause=explain(error), remedy="copy the release again"
        ) from error
