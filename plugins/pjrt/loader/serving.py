# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An accelerator as JAX sees it: something that makes clients and topologies, opened when it is first needed."""

from __future__ import annotations

import os
from typing import Any

from . import private
from .accelerator import Accelerator
from .errors import PluginError
from .handlers import register_handlers
from .kernels import find_extension
from .plugin import hand_to_jaxlib, open_plugin, unfit


class Platform:
    """One accelerator, opened at most once.

    Attributes:
        accelerator: The accelerator.
        absence: Why it makes no clients; None if it does.
    """

    def __init__(self, accelerator: Accelerator, absence: PluginError | None) -> None:
        """Open nothing yet."""
        self.accelerator = accelerator
        self.absence = absence
        self._api: Any = None

    def open_or_note(self) -> None:
        """Open the plugin; what is wrong with it is raised later, when JAX makes a client."""
        try:
            self.open()
        except PluginError as error:
            self.absence = error

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
        for variable, file in self.accelerator.environment.items():
            if (plugin.package / file).is_file():
                os.environ.setdefault(variable, str(plugin.package / file))
        api = open_plugin(plugin).api
        hand_to_jaxlib(plugin, api)
        register_handlers(self.accelerator.platform, api, find_extension(plugin.distribution, kernels))
        return api

    def register(self, priority: int) -> None:
        """Give the platform to JAX.

        Without the accelerator a client is refused with the reason, which JAX shows only to who asked for the platform.
        """
        from jax.extend.backend import register_backend_factory

        register_backend_factory(
            self.accelerator.plugin.name,
            self.make_client,
            priority=priority,
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
        if self.absence is not None:
            raise self.absence.with_traceback(None)
        self.open()
        self.accelerator.check()
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
