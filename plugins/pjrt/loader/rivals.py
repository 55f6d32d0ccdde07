# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find other plugins for the same platform, of which JAX can take only one.

JAX initializes plugins in no defined order, and the second to register a platform fails with a traceback. So who stands
back is decided by what is installed, never by who comes first, and each of our wheels comes to the same decision.
"""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contest:
    """Several plugins for one platform.

    Attributes:
        rivals: Module of each other plugin → its distribution, or its module where it has none.
        yields: Whether this plugin leaves the platform to them.
    """

    rivals: dict[str, str]
    yields: bool


def installed_plugins() -> dict[str, str]:
    """Return every plugin module that JAX will initialize, and the distribution it comes from."""
    found = {}
    spec = importlib.machinery.PathFinder.find_spec("jax_plugins")
    if spec is not None and spec.submodule_search_locations is not None:
        locations = list(spec.submodule_search_locations)
        found = {module.name: module.name for module in pkgutil.iter_modules(locations, "jax_plugins.")}
    for entry in importlib.metadata.entry_points(group="jax_plugins"):
        found[entry.value] = entry.dist.name if entry.dist is not None else entry.value
    return found


def find_contest(module: str, pattern: str, plugins: Mapping[str, str]) -> Contest:
    """Say which other plugins are for the same platform, and whether this one stands back.

    It leaves the platform to a plugin of somebody else, which would not stand back itself, and to one of ours with a
    higher version in its name, which is the one whose kernels `jaxlib.plugin_support` takes.

    Args:
        module: This plugin's module, such as `jaxlib_cuda_12`.
        pattern: A regular expression for the modules of all plugins for the platform.
        plugins: Modules of installed plugins, with their distributions.
    """
    rivals = {name: plugins[name] for name in sorted(plugins) if name != module and re.fullmatch(pattern, name)}
    ours = module.split("_", maxsplit=1)[0] + "_"
    return Contest(rivals, any(not name.startswith(ours) or _version(name) > _version(module) for name in rivals))


def describe_contest(distribution: str, platform: str, contest: Contest) -> str:
    """Return what to tell the user of a plugin that stands back."""
    others = " and ".join(sorted(set(contest.rivals.values())))
    removal = " ".join(sorted({name for other in contest.rivals.values() for name in _belongings(other)}))
    return (
        f"{distribution} stands back: {others} is for JAX's platform {platform!r} as well, and JAX can take only one\n"
        f"keep one of them: pip uninstall {removal}, or: pip uninstall {distribution}"
    )


def _belongings(distribution: str) -> tuple[str, ...]:
    """Return a plugin's distribution and the one of its kernels, which upstream has apart."""
    stem, separator, _ = distribution.rpartition("-pjrt")
    return (distribution, f"{stem}-plugin") if separator else (distribution,)


def _version(module: str) -> int:
    digits = re.search(r"\d+$", module)
    return int(digits.group()) if digits else 0
