# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that all wheels of a set carry one and the same lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pjrtwheel.release.lock import LOCK_FILENAME
from pjrtwheel.verify.finding import Problem


def find_lock(texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the name and text of a wheel's lock document, which lies directly in its import package."""
    return next(
        ((name, text) for name, text in texts.items() if name.endswith(f"/{LOCK_FILENAME}") and name.count("/") == 1),
        None,
    )


def check_lock(texts: Mapping[str, str]) -> Iterator[Problem]:
    """A wheel has a lock document."""
    if find_lock(texts) is None:
        yield "", f"holds no {LOCK_FILENAME}"


def check_locks(documents: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """All lock documents are equal, byte by byte.

    Args:
        documents: File name of the wheel → text of its lock document.

    Yields:
        The wheel and what is wrong with it.
    """
    first = next(iter(documents), "")
    for wheel, text in documents.items():
        if text != documents[first]:
            yield wheel, f"carries another lock than {first}"
