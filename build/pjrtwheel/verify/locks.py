# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that all wheels of a set carry one and the same lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pjrtwheel.lock import LOCK_FILENAME


def find_lock(texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the name and text of a wheel's lock document, which lies directly in its import package."""
    return next(
        ((name, text) for name, text in texts.items() if name.endswith(f"/{LOCK_FILENAME}") and name.count("/") == 1),
        None,
    )


def check_locks(documents: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Every wheel has a lock document and all are equal, byte by byte.

    Args:
        documents: File name of the wheel → text of its lock document, if it has one.

    Yields:
        The wheel and what is wrong with it.
    """
    present = {wheel: text for wheel, text in documents.items() if text is not None}
    yield from ((wheel, f"holds no {LOCK_FILENAME}") for wheel in documents if wheel not in present)
    first = next(iter(present), None)
    for wheel, text in present.items():
        if first is not None and text != present[first]:
            yield wheel, f"carries another lock than {first}"
