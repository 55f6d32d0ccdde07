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
from dataclasses import dataclass
from typing import Any

from . import private
from .accelerator import PRIORITY, Accelerator, check_accelerator, check_rivals, find_absence, own_kernels, rivals_of
from .chips import describe_chips
from .errors import NoDeviceError, PluginError, RivalError
from .kernels import find_extension
from .plugin import Plugin, hand_to_jaxlib, log_refusal, open_plugin, refuse, unfit
from .rivals import Rivals, check_kernel_order, describe_unknown_rival, find_rival
from .settings import check_not_disabled, goes_on_without, is_asked_for, is_set, read_settings
from .targets import register_handlers

logger = logging.getLogger(__name__)


def initialize(accelerator: Accelerator) -> None:
    """Make an accelerator known to JAX, or the reason why it cannot serve; nothing is raised."""
    plugin = accelerator.plugin
    if is_set(os.environ, plugin.disable_variable):
        return
    try:
        _initialize(accelerator, asked_for=is_asked_for(plugin.name, private.asked_platforms(), private.expand_alias))
    except Exception as error:  # noqa: BLE001  # JAX would log it and go on without the accelerator
        refuse(plugin, unfit(plugin, error), PRIORITY)


def _initialize(accelerator: Accelerator, *, asked_for: bool) -> None:
    plugin = accelerator.plugin
    rivals = rivals_of(accelerator)
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
        if quiet and not error.quiet:  # one that is quiet by itself says so by itself
            log_refusal(plugin.distribution, error, goes_on=_goes_on(accelerator))
        refuse(plugin, error, PRIORITY, quiet=quiet)
        return
    platform = Platform(accelerator, absence)
    if absence is None and asked_for:
        try:
            platform.open()
        except PluginError as error:
            platform.absence = error  # raised when JAX makes a client
    platform.register()
    _log_absence(accelerator, absence, rivals)


def _log_absence(accelerator: Accelerator, absence: PluginError | None, rivals: Rivals) -> None:
    goes_on = _goes_on(accelerator)
    # Where several of our wheels are for the platform, one of them has said enough.
    if isinstance(absence, NoDeviceError) and not (rivals.modules and goes_on):
        log_refusal(accelerator.plugin.distribution, absence, goes_on=goes_on)


def topology(accelerator: Accelerator, name: str) -> Any:
    """Describe chips that need not be here; see `describe_chips`.

    Raises:
        PluginError: JAX does not use this plugin, or it knows no such chips.
    """
    plugin = accelerator.plugin
    check_not_disabled(plugin.distribution, read_settings(plugin.disable_variable, [], os.environ))
    check_rivals(plugin, rivals_of(accelerator))
    return describe_chips(plugin, name)


def _goes_on(accelerator: Accelerator) -> bool:
    """Return whether JAX, with what the user asks for at this moment, can do without the accelerator."""
    platforms, name = private.asked_platforms(), accelerator.plugin.name
    return goes_on_without(name, platforms, private.expand_alias, passed_over=accelerator.passed_over())


def _find_loaded(plugin: Plugin) -> RivalError | None:
    """Return why the plugin is not used if a library for the platform is open already."""
    loaded = private.jaxlib("xla_client").pjrt_plugin_loaded(plugin.name)
    return describe_unknown_rival(plugin.distribution, plugin.name) if loaded else None


@dataclass(slots=True, eq=False)
class Platform:
    """One accelerator, opened at most once.

    Attributes:
        accelerator: The accelerator.
        absence: Why it makes no clients; None if it does.
    """

    accelerator: Accelerator
    absence: PluginError | None
    _api: Any = None

    def open(self) -> Any:
        """Return the API of the opened plugin.

        Raises:
            PluginError: It cannot be opened.
        """
        if self._api is None:
            try:
                self._api = self._open()
            except PluginError:
                raise
            except Exception as error:
                raise unfit(self.accelerator.plugin, error) from error
        return self._api

    def _open(self) -> Any:
        plugin, kernels = self.accelerator.plugin, self.accelerator.kernels
        self.accelerator.preload()
        _, folder = own_kernels(plugin)
        for variable, file in self.accelerator.environment.items():
            if folder is not None and (folder / file).is_file():
                os.environ.setdefault(variable, str(folder / file))
        api = open_plugin(plugin).api
        hand_to_jaxlib(plugin, api)
        register_handlers(self.accelerator.platform, api, find_extension(plugin.distribution, kernels))
        return api

    def register(self) -> None:
        """Give the platform to JAX.

        Without the accelerator a client is refused with the reason, which JAX shows where the platform is asked for.
        """
        private.register_backend(
            self.accelerator.plugin.name,
            self.make_client,
            priority=PRIORITY,
            fail_quietly=self.absence is not None and self.absence.quiet,
            experimental=False,
            make_topology=self.make_topology,
            c_api=self._api,
        )

    def make_client(self) -> Any:
        """Create the client, with the options that are in force at this moment.

        Raises:
            PluginError: The accelerator cannot be used.
        """
        try:
            if self.absence is not None:
                raise self.absence.with_traceback(None)
            self.open()
            self.accelerator.check()
        except PluginError as error:
            if _goes_on(self.accelerator):
                error.add_way_out(self.accelerator.plugin.disable_variable)
            raise
        return private.make_client(self.accelerator.plugin.name, self.options)

    def options(self) -> dict[str, Any]:
        """Return the create options as the environment has them now; JAX adds those of its configuration."""
        return {
            **private.jaxlib("xla_client").generate_pjrt_gpu_plugin_options(),
            "platform_name": self.accelerator.client_platform,
        }

    def make_topology(self, name: str = "", **options: Any) -> Any:
        """Describe devices that need not be here.

        Raises:
            PluginError: The library cannot be opened.
        """
        if self._api is None:
            private.announce(self.accelerator.plugin.name, self.open())
        return private.jaxlib("xla_client").make_c_api_device_topology(self._api, name, **options)
