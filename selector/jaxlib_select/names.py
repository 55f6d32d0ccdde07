# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Names of distributions and backends, as they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable


def normalize(name: str) -> str:
    """Return a distribution's name in the one spelling in which names are compared (PEP 503).

    >>> normalize("JAX_CUDA12.PJRT")
    'jax-cuda12-pjrt'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def squeeze(name: str) -> str:
    """Return what of a backend's name counts: people write it as its package, its extra or its directory is named.

    >>> {squeeze("cuda13"), squeeze("CUDA-13"), squeeze("cuda_13")}, squeeze("cuda-13-local")
    ({'cuda13'}, 'cuda13local')
    """
    return normalize(name).replace("-", "")


def belongings(distribution: str) -> tuple[str, ...]:
    """Return a plugin's distribution and the one of its kernels, which not every plugin has.

    >>> belongings("jax-cuda12-pjrt"), belongings("jaxlib-cuda-12")
    (('jax-cuda12-pjrt', 'jax-cuda12-plugin'), ('jaxlib-cuda-12', 'jaxlib-cuda-12-kernels'))
    """
    stem, separator, _ = distribution.rpartition("-pjrt")
    return (distribution, f"{stem}-plugin" if separator else f"{distribution}-kernels")


def suggest(word: str, known: Iterable[str]) -> str:
    """Return a question about the known name that is most like a word; empty if none is like it.

    >>> suggest("insta", ["install", "lock"]), suggest("xyz", ["install"])
    ("did you mean 'install'?", '')
    """
    import difflib  # needed after a mistake only

    found = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f"did you mean {found[0]!r}?" if found else ""
