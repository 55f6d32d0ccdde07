# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files with invented packages."""

import dataclasses
from typing import Any

from jaxlib_select.apply.pylock import Evidence, Group, Table, make_lock_environment

HERE = make_lock_environment("linux", "x86_64", (3, 12, 1))


def wheel(name: str, place: str = "https://example.org") -> Table:
    """Return a wheel as lock files list it."""
    return {"url": f"{place}/{name}", "hashes": {"sha256": f"{sum(name.encode()):064x}"}}


def package(name: str, version: str = "1.0", **more: Any) -> Table:
    """Return a package with one wheel."""
    return {
        "name": name,
        "version": version,
        "wheels": [wheel(f"{name.replace('-', '_')}-{version}-py3-none-any.whl")],
        **more,
    }


GROUPS = (
    Group("cuda13", "cuda13", ("jax==1.2.3",), (package("jax"), package("cudnn", "9.28"), package("jaxlib-cuda-13"))),
    Group("cuda12", "cuda12", ("jax==1.2.3",), (package("jax"), package("cudnn", "9.10"), package("jaxlib-cuda-12"))),
)


def evidence(**more: Any) -> Evidence:
    """Return the evidence of a lock file."""
    given = Evidence(1, "jax", "auto", "cuda13", ("jax==1.2.3",), HERE.platform, HERE.python)
    return dataclasses.replace(given, **more)
