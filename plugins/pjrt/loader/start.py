# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""When a plugin for GPUs serves, when it is silent, and when it says why not.

Where the hardware is, the plugin is opened at once, and what is wrong with it is raised at the first use of the
platform. Where it is not, one line says so, and what that means for the program; the library is opened only if a
topology is asked for, because programs can be compiled for an accelerator that is elsewhere.
"""

from __future__ import annotations

import logging
import os

from . import private
from .accelerator import PRIORITY, Accelerator, check_accelerator, find_absence
from .errors import NoDeviceError, PluginError, RivalError
from .notice import tell
from .plugin import Plugin, refuse, unfit
from .rivals import Rivals, check_kernel_order, describe_unknown_rival, find_rival, find_rivals, installed_plugins
from .serving import Platform
from .settings import goes_on_without, is_asked_for, is_disabled

logger = logging.getLogger(__name__)


def initialize(accelerator: Accelerator) -> None:
    """Make an accelerator known to JAX, or the reason why it cannot serve; nothing is raised.

    Args:
        accelerator: The accelerator.
    """
    plugin = accelerator.plugin
    if is_disabled(os.environ, plugin.distribution):
        return
    try:
        _initialize(accelerator, asked_for=is_asked_for(plugin.name, private.asked_platforms(), private.expand_alias))
    except Exception as error:  # noqa: BLE001  # JAX would log it and go on without the accelerator
        refuse(plugin, unfit(plugin, error), PRIORITY)


def _initialize(accelerator: Accelerator, *, asked_for: bool) -> None:
    plugin = accelerator.plugin
    rivals = find_rivals(plugin.package.name, accelerator.rivals, installed_plugins(), os.environ)
    rival = find_rival(plugin.distribution, plugin.name, rivals, os.environ) or _find_loaded(plugin)
    if rival is not None:
        logger.log(logging.WARNING if asked_for else logging.DEBUG, "%s%s", rival.what, rival.fix())
        return
    absence = find_absence(accelerator) if asked_for else None
    if absence is not None:
        accelerator.insist(lambda: not _goes_on(accelerator))
    try:
        check_kernel_order(plugin.distribution, rivals)
        check_accelerator(accelerator)
    except PluginError as error:
        quiet = isinstance(absence, NoDeviceError)
        if quiet:
            tell(plugin.distribution, error, goes_on=_goes_on(accelerator))
        refuse(plugin, error, PRIORITY, quiet=quiet)
        return
    platform = Platform(accelerator, absence)
    if absence is None and asked_for:
        platform.open_or_note()
    platform.register(PRIORITY)
    _tell_absence(accelerator, absence, rivals)


def _tell_absence(accelerator: Accelerator, absence: PluginError | None, rivals: Rivals) -> None:
    goes_on = _goes_on(accelerator)
    # Where several of our wheels are for the platform, the others have told the user enough to go on with.
    if isinstance(absence, NoDeviceError) and not (rivals.modules and goes_on):
        tell(accelerator.plugin.distribution, absence, goes_on=goes_on)


def _goes_on(accelerator: Accelerator) -> bool:
    """Return whether JAX, with what the user asks for at this moment, can do without the accelerator."""
    platforms, name = private.asked_platforms(), accelerator.plugin.name
    return goes_on_without(name, platforms, private.expand_alias, passed_over=accelerator.passed_over())


def _find_loaded(plugin: Plugin) -> RivalError | None:
    """Return what to tell the user if a library for the platform is open already."""
    loaded = private.jaxlib("xla_client").pjrt_plugin_loaded(plugin.name)
    return describe_unknown_rival(plugin.distribution, plugin.name) if loaded else None
