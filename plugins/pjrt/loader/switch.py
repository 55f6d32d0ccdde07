# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The environment variable that leaves JAX as it was without a plugin, and JAX's own choice of platforms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


def switch_name(name: str) -> str:
    """Return the variable that switches a plugin off.

    Args:
        name: Its distribution or its package.

    >>> switch_name("jaxlib-cuda-12"), switch_name("jaxlib_cpu")
    ('JAXLIB_CUDA_12_DISABLE', 'JAXLIB_CPU_DISABLE')
    """
    return f"{name.replace('-', '_').upper()}_DISABLE"


def is_disabled(environ: Mapping[str, str], name: str) -> bool:
    """Return whether the user switched a plugin off.

    >>> [is_disabled({"JAXLIB_CPU_DISABLE": value}, "jaxlib-cpu") for value in ("1", "0", "")]
    [True, False, False]
    """
    return environ.get(switch_name(name), "").strip().lower() not in ("", "0", "false", "no", "off")


def is_asked_for(name: str, jax_platforms: str | None, expand: Callable[[str], Sequence[str]]) -> bool:
    """Return whether JAX will use a platform where there is one.

    Args:
        name: JAX's name of the platform.
        jax_platforms: Value of `jax_platforms`; nothing for all there are.
        expand: JAX's aliases, such as `gpu` → `cuda`, `rocm`.

    >>> expand = lambda alias: ["cuda", "rocm"] if alias == "gpu" else [alias]
    >>> [is_asked_for("cuda", value, expand) for value in (None, "", "cpu", "cpu, cuda", "gpu")]
    [True, True, False, True, True]
    """
    if not jax_platforms:
        return True
    return any(name in expand(alias.strip()) for alias in jax_platforms.split(","))


def goes_on_without(
    name: str, jax_platforms: str, expand: Callable[[str], Sequence[str]], *, passed_over: bool
) -> bool:
    """Return whether JAX can do without a platform that is not there; one that was named must be there.

    Args:
        name: JAX's name of the platform.
        jax_platforms: Value of `jax_platforms`; empty for all there are.
        expand: JAX's aliases, such as `gpu` → `cuda`, `rocm`, all of which must be there then.
        passed_over: Whether JAX leaves it out by itself. Then it goes on if the user named another one as well.

    >>> expand = lambda alias: ["cuda", "rocm"] if alias == "gpu" else [alias]
    >>> [goes_on_without("cuda", value, expand, passed_over=True) for value in ("", "cuda", "cuda,cpu", "gpu,cpu")]
    [True, False, True, False]
    >>> [goes_on_without("rocm", value, expand, passed_over=False) for value in ("", "rocm", "rocm,cpu", "cpu")]
    [True, False, False, True]
    """
    entries = [entry.strip() for entry in jax_platforms.split(",") if entry.strip()]
    naming = [entry for entry in entries if name in expand(entry)]
    if not naming:
        return True
    return passed_over and set(naming) == {name} and len(naming) < len(entries)
