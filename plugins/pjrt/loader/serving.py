# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An accelerator as JAX sees it: something that makes clients and topologies, opened when it is first needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .errors import PluginError
from .handlers import register_handlers
from .kernels import find_extension
from .plugin import hand_to_jaxlib, open_plugin, unfit

if TYPE_CHECKING:
    from .accelerator import Accelerator


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
        from jax._src import xla_bridge

        if self.absence is not None:
            raise self.absence
        self.open()
        self.accelerator.check()
        # The options must not be None: JAX would leave out its own in a program of several processes.
        return xla_bridge.make_pjrt_c_api_client(self.accelerator.plugin.name, options=self.options)

    def options(self) -> dict[str, Any]:
        """Return the create options as the environment has them now; JAX adds those of its configuration."""
        from jax._src.lib import xla_client

        return {
            **xla_client.generate_pjrt_gpu_plugin_options(),
            "platform_name": self.accelerator.client_platform,
        }

    def make_topology(self, name: str = "", **options: Any) -> Any:
        """Describe devices that need not be here.

        Raises:
            PluginError: The library cannot be opened.
        """
        from jax._src.lib import xla_client

        if self._api is None:
            self._announce(self.open())
        return xla_client.make_c_api_device_topology(self._api, name, **options)

    def _announce(self, api: Any) -> None:
        """Tell those who asked for every plugin, such as `custom_partitioning`; JAX has told them of the others."""
        from jax._src import xla_bridge

        xla_bridge._backend_factories[self.accelerator.plugin.name].c_api = api  # noqa: SLF001
        for callback in xla_bridge._plugin_callbacks:  # noqa: SLF001
            callback(c_api=api)
