# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the plugins for GPUs share, and in what they differ."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import private
from .errors import PluginError
from .installed import installed_version, kernels_of, owners_of, package_directory
from .kernels import Kernels, check_kernels, check_precedence
from .lock import check_locks, read_installed
from .plugin import Plugin, check_plugin
from .rivals import Rivals, check_kernel_order, find_rival, find_rivals, installed_plugins
from .vendor import Vendor

# That of JAX's own GPU plugins: above TPU and CPU.
PRIORITY = 500


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A plugin for GPUs, and what is special about its vendor.

    Attributes:
        plugin: The plugin.
        platform: XLA's name of the platform, under which targets are registered, such as `CUDA`.
        client_platform: The name that the library wants as create option `platform_name`.
        kernels: Its kernels.
        rivals: A regular expression for the modules of all plugins for the same platform.
        find_device: Raises NoDeviceError if JAX is to go on without, and another PluginError if the accelerator is
            there and cannot be used.
        preload: Opens the vendor's libraries; raises PluginError if the plugin cannot be opened without one of them.
        check: Raises PluginError if a library is not fit to run programs; asked before the client is created.
        environment: Environment variable → file next to the kernels that it names, unless the user set it.
        survey: Returns the vendor's libraries and hardware for `python -m <package>`; is passed whether to open any.
        find_node: Raises what `find_device` does, as far as files alone show it.
        examine: Raises PluginError for what is wrong by `python -m <package>`, if that is more than `check` raises.
        passed_over: Whether JAX leaves the platform out by itself, even where the user asked for it by name.
        insist: Lets JAX ask for a client all the same, for as long as a condition holds; for `passed_over`.
    """

    plugin: Plugin
    platform: str
    client_platform: str
    kernels: Kernels
    rivals: str
    find_device: Callable[[], None]
    preload: Callable[[], None]
    check: Callable[[], None] = lambda: None
    environment: Mapping[str, str] = field(default_factory=dict)
    survey: Callable[[bool], Vendor] = lambda _: Vendor()
    find_node: Callable[[], None] = lambda: None
    examine: Callable[[], None] | None = None
    passed_over: Callable[[], bool] = lambda: False
    insist: Callable[[Callable[[], bool]], None] = lambda _: None


def check_accelerator(accelerator: Accelerator) -> None:
    """Check that plugin, jaxlib and kernels belong together.

    Raises:
        PluginError: They do not.
    """
    plugin, kernels = accelerator.plugin, accelerator.kernels
    lock = check_plugin(plugin)
    check_kernels(kernels, plugin.distribution, lock.release, installed_version(kernels.package))
    found = read_installed(*own_kernels(plugin)).lock
    if found is not None:  # upstream's have none
        check_locks(plugin.distribution, lock, found, name=kernels_of(plugin.distribution))
    packages = private.kernel_packages(plugin.name)
    check_precedence(kernels, plugin.distribution, lock.release, packages, owners_of)


def own_kernels(plugin: Plugin) -> tuple[str, Path | None]:
    """Return the distribution with the kernels of a plugin, and the folder of what goes with them, if it is there."""
    distribution = kernels_of(plugin.distribution)
    return distribution, package_directory(distribution.replace("-", "_"))


def find_absence(accelerator: Accelerator) -> PluginError | None:
    """Return why there is no accelerator to use, or None."""
    try:
        accelerator.find_device()
    except PluginError as error:
        return error
    return None


def rivals_of(accelerator: Accelerator) -> Rivals:
    """Return the other installed plugins for the platform."""
    module = accelerator.plugin.package.name
    return find_rivals(module, accelerator.rivals, installed_plugins(), os.environ)


def check_rivals(plugin: Plugin, rivals: Rivals) -> None:
    """Check that no other plugin gets the platform, or has its kernels taken with this one.

    Raises:
        PluginError: One does.
    """
    rival = find_rival(plugin.distribution, plugin.name, rivals, os.environ)
    if rival is not None:
        raise rival
    check_kernel_order(plugin.distribution, rivals)


def read_gpu_code(package: Path) -> list[str]:
    """Return for which GPUs the library holds code, as it was read from the library when the wheel was built."""
    try:
        return [str(name) for name in json.loads((package / "gpu_code.json").read_text("utf-8"))["code"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
