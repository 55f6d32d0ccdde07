# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which machines with accelerators a repository has: a variable of its settings maps backends to labels of runners.

For example `{"cuda13": ["self-hosted", "h100"], "cuda13/linux_aarch64": ["self-hosted", "gh200"]}`. A backend without a
platform is that of the machines which CI runs on. The standard library is enough.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import REFERENCE

_EXAMPLE = 'expected JSON such as {"cuda13": ["self-hosted", "h100"]}'


def read_machines(text: str, backends: Collection[Backend]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the labels of runners by backend and platform, as a repository variable has them; empty for none.

    Raises:
        UsageError: It is not of that form, or names a backend or platform that there is not.
    """
    try:
        table = json.loads(text or "{}")
    except ValueError as error:
        raise UsageError("the variable for accelerators is not JSON", cause=str(error), remedy=_EXAMPLE) from error
    if not isinstance(table, dict) or not all(map(_are_labels, table.values())):
        raise UsageError("the variable for accelerators does not map backends to labels", remedy=_EXAMPLE)
    known = {(backend.name, platform) for backend in backends for platform in backend.tags}
    found = {}
    for name, labels in table.items():
        backend, _, platform = name.partition("/")
        place = (backend, platform or REFERENCE.name)
        if place not in known:
            raise UsageError(
                f"the variable for accelerators names {name!r}, which has no wheels",
                remedy=f"backends: {', '.join(sorted({backend for backend, _ in known}))}",
            )
        found[place] = tuple(labels)
    return found


def _are_labels(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(label, str) and label for label in value)
