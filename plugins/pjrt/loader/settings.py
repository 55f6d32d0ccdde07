# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the user has set: the environment variable that disables a plugin, and JAX's own choice of platforms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .errors import UnusedError

# The platforms that JAX starts, and the one of these that it takes by default.
JAX_PLATFORMS, JAX_PLATFORM_NAME = "JAX_PLATFORMS", "JAX_PLATFORM_NAME"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment variables say about a plugin.

    Attributes:
        disable_variable: The variable that disables it.
        disabled: Whether it does.
        jax_platforms: Value of `JAX_PLATFORMS`; None if it is not set.
        left_out: Whether JAX's variables leave the plugin's platform out.
        left_out_by: The variable that does, with its value; empty if none does.
    """

    disable_variable: str
    disabled: bool
    jax_platforms: str | None
    left_out: bool
    left_out_by: str


def read_settings(variable: str, names: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """Return what the environment variables say about a plugin."""
    asked = {
        f"{JAX_PLATFORMS}={environ.get(JAX_PLATFORMS)}": environ.get(JAX_PLATFORMS, ""),
        f"{JAX_PLATFORM_NAME}={environ.get(JAX_PLATFORM_NAME)}": environ.get(JAX_PLATFORM_NAME, "").lower(),
    }
    # JAX takes a name with a blank for another one, which it does not know.
    away = [said for said, value in asked.items() if value and not set(value.split(",")) & set(names)]
    return Settings(
        disable_variable=variable,
        disabled=is_set(environ, variable),
        jax_platforms=environ.get(JAX_PLATFORMS),
        left_out=bool(away),
        left_out_by=next(iter(away), ""),
    )


def check_not_disabled(distribution: str, settings: Settings) -> None:
    """Check that the user has not disabled the plugin.

    Raises:
        UnusedError: It is disabled.
    """
    if settings.disabled:
        name = settings.disable_variable
        raise UnusedError(f"{name} is set, so JAX does not use {distribution}", remedy=f"unset {name}")


def check_not_left_out(platform: str, settings: Settings) -> None:
    """Check that JAX's environment variables do not leave the platform out.

    Raises:
        UnusedError: It does.
    """
    if settings.left_out:
        raise UnusedError(
            f"{settings.left_out_by} leaves JAX's platform {platform!r} out",
            remedy=f"unset {settings.left_out_by.partition('=')[0]}",
        )


def disable_variable(package: str) -> str:
    """Return the variable that disables a plugin of ours.

    >>> disable_variable("jaxlib_cuda_12")
    'JAXLIB_CUDA_12_DISABLE'
    """
    return f"{package.upper()}_DISABLE"


def is_set(environ: Mapping[str, str], variable: str) -> bool:
    """Return whether the user set a variable to something that does not mean no.

    >>> [is_set({"JAXLIB_CPU_DISABLE": value}, "JAXLIB_CPU_DISABLE") for value in ("1", "0", "")]
    [True, False, False]
    """
    return environ.get(variable, "").strip().lower() not in ("", "0", "false", "no", "off")


def is_asked_for(name: str, jax_platforms: str | None, expand: Callable[[str], Sequence[str]]) -> bool:
    """Return whether JAX will use a platform where there is one.

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
