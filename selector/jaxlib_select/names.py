# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Names of distributions."""

from __future__ import annotations

import re


def normalize(name: str) -> str:
    """Return a distribution's name in the one spelling in which names are compared (PEP 503).

    >>> normalize("JAX_CUDA12.PJRT")
    'jax-cuda12-pjrt'
    """
    return re.sub(r"[-_.]+", "-", name).lower()
