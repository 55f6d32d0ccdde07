# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read what was measured of upstream's wheels and ours, where a repository has it."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.docs.wheels import DATA, read_measures
from pjrtwheel.products.index.release_pages.comparison import Measured

OWN_ROOT = Path(__file__).resolve().parents[5]  # of the repository that this tooling is in


def read_measured(root: Path) -> Measured:
    """Return what `docs/wheels.json` holds; nothing where there is no such file.

    Raises:
        UsageError: The file is malformed.
    """
    if not (root / DATA).is_file():
        return Measured()
    return Measured(read_measures(root), tuple(load_backends(root).values()))
