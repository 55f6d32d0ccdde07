# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find other plugins for the same platform, of which JAX can take only one.

JAX initializes plugins in no defined order, and the second to register a platform fails with a traceback. So which one
leaves the platform to another is decided by what is installed, never by who comes first, and each of our wheels comes
to the same decision.
"""

from __future__ import annotations

import importlib.metadata
import os
import pkgutil
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .errors import Remedy, RivalError, TakeOverError
from .installed import find_folders, pip_command, wheels_of
from .settings import disable_variable, is_set

# JAX's variable for plugins that are in no package: NAME:LIBRARY, with commas between several.
_NAMED_PLUGINS = "PJRT_NAMES_AND_LIBRARY_PATHS"


@dataclass(frozen=True, slots=True)
class Rivals:
    """Other plugins for the same platform, by their distribution or, where they have none, their module.

    Attributes:
        modules: Module → distribution of each that is not disabled by the user.
        yields_to: Those that get the platform instead of this plugin.
        yielding: Those that leave the platform to this plugin.
        disabled: Those that the user disabled, and whose kernels JAX takes nevertheless.
    """

    modules: Mapping[str, str] = field(default_factory=dict)
    yields_to: tuple[str, ...] = ()
    yielding: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()


def installed_plugins() -> dict[str, str]:
    """Return every plugin module that JAX will initialize, and the distribution it comes from."""
    folders = map(str, find_folders("jax_plugins"))
    found = {module.name: module.name for module in pkgutil.iter_modules(folders, "jax_plugins.")}
    for entry in importlib.metadata.entry_points(group="jax_plugins"):
        found[entry.value] = entry.dist.name if entry.dist is not None else entry.value
    return found


def find_rivals(module: str, pattern: str, plugins: Mapping[str, str], environ: Mapping[str, str]) -> Rivals:
    """Say which other plugins are for the same platform, and which of them get it instead of this one.

    A plugin of ours leaves the platform to one of somebody else, which would not do the same, and to one of ours with a
    higher version in its name, which is the one whose kernels `jaxlib.plugin_support` takes.

    Args:
        module: This plugin's module, such as `jaxlib_cuda_12`.
        pattern: A regular expression for the modules of all plugins for the platform.
        plugins: Modules of installed plugins, with their distributions.
        environ: Environment, for the variables that disable plugins of ours.
    """
    found = {name: plugins[name] for name in sorted(plugins) if name != module and re.fullmatch(pattern, name)}
    ours = module.split("_", maxsplit=1)[0] + "_"
    disabled = {name for name in found if name.startswith(ours) and is_set(environ, disable_variable(name))}
    newer = {name for name in found if _version(name) > _version(module)}
    live = {name: distribution for name, distribution in found.items() if name not in disabled}
    first = {name for name in live if not name.startswith(ours) or name in newer}
    return Rivals(
        modules=live,
        # One that comes first is enough for this plugin to be idle: then it also leaves the platform to the others.
        yields_to=_distributions(live, live) if first else (),
        yielding=() if first else _distributions(live, live),
        disabled=_distributions(found, disabled & newer),
    )


def _distributions(found: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({found[name] for name in names}))


def check_kernel_order(distribution: str, rivals: Rivals) -> None:
    """Check that JAX takes the kernels of this plugin.

    JAX imports kernels before any plugin is asked, those of the newest plugin that is installed: that the plugin is
    disabled does not count.

    Raises:
        TakeOverError: It takes those of a plugin that is disabled.
    """
    if rivals.disabled:
        others = " and ".join(rivals.disabled)
        raise TakeOverError(
            f"{distribution} cannot take the place of {others}, which is disabled",
            cause=f"JAX would run the kernels of {others} with this plugin, because they are still installed",
            remedy=pip_command(f"uninstall {' '.join(_belongings(rivals.disabled))}"),
        )


def find_rival(distribution: str, platform: str, rivals: Rivals, environ: Mapping[str, str]) -> RivalError | None:
    """Return why another plugin gets the platform, in words for the user; None if this one does."""
    if rivals.yields_to:
        return describe_yielding(distribution, platform, rivals.yields_to)
    named = [entry.split(os.pathsep)[0] for entry in environ.get(_NAMED_PLUGINS, "").split(",")]
    if platform in named:
        return describe_unknown_rival(
            distribution, platform, f"unset {_NAMED_PLUGINS}, or take {platform!r} out of its value"
        )
    return None


def describe_yielding(distribution: str, platform: str, rivals: Iterable[str]) -> RivalError:
    """Return that a plugin leaves its platform to others."""
    others, own = sorted(set(rivals)), " ".join(wheels_of(distribution))
    verb = "is" if len(others) == 1 else "are"
    return RivalError(
        f"{distribution} is not used: {' and '.join(others)} {verb} for JAX's platform {platform!r} as well, "
        "and JAX can take only one",
        remedy=Remedy(
            pip_command(f"uninstall {' '.join(_belongings(others))}"),
            f"to keep {' and '.join(others)} instead: {pip_command(f'uninstall {own}')}",
        ),
    )


def describe_unknown_rival(distribution: str, platform: str, remedy: str = "") -> RivalError:
    """Return the same where it is not known what the other one is."""
    return RivalError(
        f"{distribution} is not used: something else registers JAX's platform {platform!r}", remedy=remedy
    )


def _belongings(distributions: Iterable[str]) -> list[str]:
    """Return plugins' distributions and those of their kernels."""
    names: set[str] = set()
    for name in distributions:
        stem, separator, _ = name.rpartition("-pjrt")
        names.update((name, f"{stem}-plugin") if separator else wheels_of(name))
    return sorted(names)


def _version(module: str) -> int:
    digits = re.search(r"\d+$", module)
    return int(digits.group()) if digits else 0
