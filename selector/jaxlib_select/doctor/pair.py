# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX and jaxlib: whether both are there, and fit each other, by the rules of JAX itself (`jax._src.lib`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlib_select.doctor.case import Case
from jaxlib_select.doctor.environment import Environment
from jaxlib_select.doctor.report import ERROR, Finding
from jaxlib_select.versions import read_version


def find_break(environment: Environment) -> tuple[str, str]:
    """Return the code of what keeps JAX from being imported, and one sentence about it; empty if nothing does."""
    jax, jaxlib = environment.version_of("jax"), environment.version_of("jaxlib")
    absent = [name for name, version in (("jax", jax), ("jaxlib", jaxlib)) if version is None]
    if jax is None or jaxlib is None:
        return f"{absent[0]}-missing", f"{' and '.join(absent)} {'are' if len(absent) > 1 else 'is'} not installed"
    oldest = minimum_jaxlib(environment)
    if (read_version(jaxlib) or ()) > (read_version(jax) or ()):
        return "jaxlib-mismatch", f"jaxlib {jaxlib} is newer than jax {jax}, which JAX refuses"
    if oldest is not None and (read_version(jaxlib) or ()) < (read_version(oldest) or ()):
        return "jaxlib-mismatch", f"jax {jax} needs jaxlib {oldest} at least, and jaxlib {jaxlib} is installed"
    return "", ""


def incomplete(case: Case) -> Iterator[Finding]:
    """JAX or jaxlib is missing, or they do not fit."""
    code, what = find_break(case.environment)
    if not code:
        return
    jax, jaxlib = case.environment.version_of("jax"), case.environment.version_of("jaxlib")
    release = jax or jaxlib
    known = case.decision is not None and f"jax=={release}" in case.decision.requirements
    pair = [f"{name}=={release}" if release else name for name in ("jax", "jaxlib")]
    remedy = case.advise() if known or (release is None and case.decision is not None) else case.install(pair)
    yield Finding(ERROR, code, what, remedy)


def minimum_jaxlib(environment: Environment) -> str | None:
    """Return the oldest jaxlib that the installed JAX takes, from its source."""
    path = environment.find("jax/version.py")
    try:
        text = path.read_text("utf-8") if path is not None else ""
    except (OSError, UnicodeError):
        return None
    found = re.search(r"""^_minimum_jaxlib_version\s*=\s*["']([^"']+)""", text, re.MULTILINE)
    return found.group(1) if found else None
