# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find other plugins for the same platform, of which JAX can take only one.

JAX initializes plugins in no defined order, and the second to register a platform fails with a traceback. So who stands
back is decided by what is installed, never by who comes first, and each of our wheels comes to the same decision.
"""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import os
import pkgutil
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .errors import RivalError, TakeOverError
from .switch import is_disabled

# JAX's variable for plugins that are in no package: NAME:LIBRARY, with commas between several.
NAMED_PLUGINS = "PJRT_NAMES_AND_LIBRARY_PATHS"


@dataclass(frozen=True, slots=True)
class Contest:
    """Several plugins for one platform.

    Attributes:
        rivals: Module of each other plugin → its distribution, or its module where it has none.
        yields: Whether this plugin leaves the platform to them.
        silenced: Distributions of ours that are switched off and would come before this plugin if they were not.
    """

    rivals: dict[str, str]
    yields: bool
    silenced: tuple[str, ...] = ()


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


def find_contest(module: str, pattern: str, plugins: Mapping[str, str], environ: Mapping[str, str]) -> Contest:
    """Say which other plugins are for the same platform, and whether this one stands back.

    It leaves the platform to a plugin of somebody else, which would not stand back itself, and to one of ours with a
    higher version in its name, which is the one whose kernels `jaxlib.plugin_support` takes.

    Args:
        module: This plugin's module, such as `jaxlib_cuda_12`.
        pattern: A regular expression for the modules of all plugins for the platform.
        plugins: Modules of installed plugins, with their distributions.
        environ: Environment, for the variables that switch plugins of ours off.
    """
    found = {name: plugins[name] for name in sorted(plugins) if name != module and re.fullmatch(pattern, name)}
    ours = module.split("_", maxsplit=1)[0] + "_"
    rivals = {name: found[name] for name in found if not (name.startswith(ours) and is_disabled(environ, name))}
    silenced = (found[name] for name in found if name not in rivals and _version(name) > _version(module))
    yields = any(not name.startswith(ours) or _version(name) > _version(module) for name in rivals)
    return Contest(rivals, yields, tuple(silenced))


def check_kernel_order(distribution: str, contest: Contest) -> None:
    """Check that JAX takes the kernels of this plugin.

    JAX imports kernels before any plugin is asked, those of the newest plugin that is installed: that the plugin is
    switched off does not count.

    Raises:
        TakeOverError: It takes those of a plugin that is switched off.
    """
    if contest.silenced:
        others = " and ".join(contest.silenced)
        raise TakeOverError(
            f"{distribution} cannot take the place of {others}, which is switched off",
            cause=f"JAX would run the kernels of {others} with this plugin, because they are still installed",
            remedy=f"pip uninstall {' '.join(contest.silenced)}",
        )


def find_rival(distribution: str, platform: str, contest: Contest, environ: Mapping[str, str]) -> RivalError | None:
    """Return what to tell the user if another plugin is to have the platform, else None.

    Args:
        distribution: Name of the plugin's distribution.
        platform: JAX's name of the platform.
        contest: Other plugins for the same platform that are installed.
        environ: Environment, for JAX's variable that names plugins by their libraries.
    """
    if contest.yields:
        return stand_back(distribution, platform, contest.rivals.values())
    named = [entry.split(os.pathsep)[0] for entry in environ.get(NAMED_PLUGINS, "").split(",")]
    if platform in named:
        return stand_back_from_unknown(distribution, platform, f"unset {NAMED_PLUGINS}, or take {platform!r} out of it")
    return None


def stand_back(distribution: str, platform: str, rivals: Iterable[str]) -> RivalError:
    """Return what to tell the user of a plugin that leaves its platform to others.

    Args:
        distribution: Name of the plugin's distribution.
        platform: JAX's name of the platform.
        rivals: Distributions of the others.
    """
    others = sorted(set(rivals))
    verb = "is" if len(others) == 1 else "are"
    removal = " ".join(sorted({name for other in others for name in _belongings(other)}))
    return RivalError(
        f"{distribution} stands back: {' and '.join(others)} {verb} for JAX's platform {platform!r} as well, "
        "and JAX can take only one",
        remedy=f"keep one of them: pip uninstall {removal}, or: pip uninstall {distribution}",
    )


def stand_back_from_unknown(distribution: str, platform: str, remedy: str = "") -> RivalError:
    """Return the same where it is not known what the other one is."""
    return RivalError(
        f"{distribution} stands back: something else registers JAX's platform {platform!r}", remedy=remedy
    )


def _belongings(distribution: str) -> tuple[str, ...]:
    """Return a plugin's distribution and the one of its kernels, which upstream has apart."""
    stem, separator, _ = distribution.rpartition("-pjrt")
    return (distribution, f"{stem}-plugin") if separator else (distribution,)


def _version(module: str) -> int:
    digits = re.search(r"\d+$", module)
    return int(digits.group()) if digits else 0
