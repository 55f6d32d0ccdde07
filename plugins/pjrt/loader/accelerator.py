# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the plugins for GPUs share: when to serve, when to be silent, when to say why not.

Where the hardware is, the plugin is opened at once, and what is wrong with it is raised at the first use of the
platform. Where it is not, one line says so and JAX goes on without; the library is opened only if a topology is asked
for, because programs can be compiled for an accelerator that is elsewhere.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .errors import NoDeviceError, PluginError
from .kernels import Kernels, check_kernels
from .lock import installed_version
from .plugin import Plugin, check_plugin, refuse, unfit
from .rivals import Contest, check_kernel_order, describe_contest, find_contest, installed_plugins
from .serving import Platform
from .switch import is_asked_for, is_disabled

logger = logging.getLogger(__name__)

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
        environment: Environment variable → file of the package that it names, unless the user set it.
        status: What `python -m <package>` shows beyond what it shows for every plugin.
    """

    plugin: Plugin
    platform: str
    client_platform: str
    kernels: Kernels
    rivals: str
    find_device: Callable[[], None]
    preload: Callable[[], None]
    check: Callable[[], None]
    environment: Mapping[str, str] = field(default_factory=dict)
    status: Callable[[], list[str]] = list


def initialize(accelerator: Accelerator) -> None:
    """Make an accelerator known to JAX, or the reason why it cannot serve; nothing is raised.

    Args:
        accelerator: The accelerator.
    """
    plugin = accelerator.plugin
    if is_disabled(os.environ, plugin.distribution):
        return
    try:
        _initialize(accelerator, asked_for=_is_asked_for(plugin.name))
    except Exception as error:  # noqa: BLE001  # JAX would log it and go on without the accelerator
        refuse(plugin, unfit(plugin, error), PRIORITY)


def _initialize(accelerator: Accelerator, *, asked_for: bool) -> None:
    plugin = accelerator.plugin
    contest = find_contest(plugin.package.name, accelerator.rivals, installed_plugins(), os.environ)
    rival = describe_rival(plugin, contest)
    if rival is not None:
        logger.log(logging.WARNING if asked_for else logging.DEBUG, "%s", rival)
        return
    absence = find_absence(accelerator) if asked_for else None
    quiet = isinstance(absence, NoDeviceError)
    try:
        check_kernel_order(plugin.distribution, contest)
        check_accelerator(accelerator)
    except PluginError as error:
        if quiet:
            logger.warning("%s", error)
        refuse(plugin, error, PRIORITY, quiet=quiet)
        return
    platform = Platform(accelerator, absence)
    if absence is None and asked_for:
        platform.open_or_note()
    platform.register(PRIORITY)
    # Where several of our wheels are for the platform, the others have told the user that much already.
    if isinstance(absence, NoDeviceError) and not contest.rivals:
        logger.warning("%s: %s; JAX goes on without it", plugin.distribution, absence.what)


def check_accelerator(accelerator: Accelerator) -> None:
    """Check that plugin, jaxlib and kernels belong together.

    Raises:
        PluginError: They do not.
    """
    plugin, kernels = accelerator.plugin, accelerator.kernels
    lock = check_plugin(plugin)
    check_kernels(kernels, plugin.distribution, lock.release, installed_version(kernels.package))


def find_absence(accelerator: Accelerator) -> PluginError | None:
    """Return why there is no accelerator to use, or None."""
    try:
        accelerator.find_device()
    except PluginError as error:
        return error
    return None


def _is_asked_for(name: str) -> bool:
    from jax._src import config, xla_bridge

    return is_asked_for(name, config.jax_platforms.value, xla_bridge.expand_platform_alias)


def describe_rival(plugin: Plugin, contest: Contest) -> str | None:
    """Return what to tell the user if another plugin is to have the platform, else None.

    Args:
        plugin: The plugin.
        contest: Other plugins for the same platform that are installed.
    """
    from jax._src.lib import xla_client

    if contest.yields:
        return describe_contest(plugin.distribution, plugin.name, contest)
    named = [entry.split(os.pathsep)[0] for entry in os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(",")]
    if plugin.name in named or xla_client.pjrt_plugin_loaded(plugin.name):
        return f"{plugin.distribution} stands back: something else registers JAX's platform {plugin.name!r}"
    return None
