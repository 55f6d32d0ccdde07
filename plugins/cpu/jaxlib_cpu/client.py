# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Put the plugin in the place of JAX's built-in CPU client."""

from __future__ import annotations

import functools
import logging
import os
from typing import Any

from .options import create_options
from .patches import analyse_costs, import_tensor
from .pjrt import _pjrt, private
from .pjrt.api import has_extension
from .pjrt.callbacks import describe_exception, element_dtypes
from .pjrt.plugin import Plugin, hand_to_jaxlib
from .pjrt.targets import TargetForwarder, TypeForwarder, forward_transform, take_queues

logger = logging.getLogger(__name__)

# XLA's name of the platform, under which jaxlib queues custom-call targets for `cpu`.
_XLA_PLATFORM = "Host"

# Of the targets that jaxlib registers in C++, in its own copy of XLA only, these need state that a plugin has no access
# to; the extension has handlers to replace them. The others, such as those of buffer callbacks, can be passed on.
_CALLBACK_TARGETS = ("xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback")


def take_over(plugin: Plugin, api: Any, priority: int) -> None:
    """Register an opened plugin as JAX's platform `cpu`, complete with custom calls and host callbacks."""
    hand_to_jaxlib(plugin, api)
    _register_own_targets(api)
    _forward_targets(api)
    _forward_transforms(api)
    _complete_client()
    private.register_backend(
        plugin.name,
        functools.partial(make_client, plugin),
        priority=priority,
        fail_quietly=False,
        experimental=False,
        c_api=api,
    )


def _forward_targets(api: Any) -> None:
    """Give the plugin every custom-call target and type, those registered so far and those to come."""
    _jax = private.jaxlib("_jax")
    targets = TargetForwarder(_pjrt, api, _jax.register_custom_call_target)
    types = TypeForwarder(_pjrt, api, _XLA_PLATFORM, _jax.register_custom_type)
    take_queues("cpu", targets, types)


def _forward_transforms(api: Any) -> None:
    """Give the plugin the HLO passes of `jax.extend.xla` as well.

    JAX registers those for the platform `cpu` with jaxlib alone, because its own CPU client is no plugin.
    """
    _xla = private.jaxlib("_xla")
    if has_extension(api, "XlaTransform"):
        _xla.register_xla_transform = forward_transform(
            _xla.register_xla_transform, _xla.register_xla_transform_c_api, api
        )
        _xla.clear_xla_transform = forward_transform(_xla.clear_xla_transform, _xla.clear_xla_transform_c_api, api)


def _complete_client() -> None:
    """Add what jaxlib's client for plugins leaves out and its built-in CPU client has."""
    _jax, xla_client = private.jaxlib("_jax"), private.jaxlib("xla_client")
    xla_client.LoadedExecutable.cost_analysis = analyse_costs(xla_client.LoadedExecutable.cost_analysis)
    _jax.dlpack_managed_tensor_to_buffer = import_tensor(_jax.dlpack_managed_tensor_to_buffer)


def _register_own_targets(api: Any) -> None:
    """Give the plugin the targets that jaxlib keeps in its own copy of XLA: host callbacks, buffer callbacks, sinks.

    It has no more than those as long as no handler has taken the queue of `xla_client.register_custom_call_target`.
    """
    own = private.jaxlib("_jax").custom_call_targets("cpu")
    probe = own[_CALLBACK_TARGETS[0]]["execute"]
    _pjrt.register_host_callbacks(api, _CALLBACK_TARGETS, _XLA_PLATFORM, probe, element_dtypes(), describe_exception)
    for name in own.keys() - set(_CALLBACK_TARGETS):
        _pjrt.register_ffi_handler(api, name, own[name]["execute"], _XLA_PLATFORM, 0)


def make_client(plugin: Plugin) -> Any:
    """Create the client, with the options that are in force at this moment.

    In a multi-process program that is JAX's built-in client: a PJRT CPU plugin cannot join processes.

    A client of the plugin is never destroyed. Where an array was turned into NumPy without a copy, jaxlib's
    `PjRtCApiExternalReference` keeps its memory but not the client, and reads the client when the NumPy array goes.
    After JAX has dropped its clients, at exit or in `clear_backends()`, the process would end with SIGSEGV.
    """
    if private.has_processes():
        logger.warning(
            "%s: jax.distributed is in use, which a PJRT CPU plugin cannot serve; using JAX's built-in CPU client",
            plugin.distribution,
        )
        return private.make_builtin_client()
    client = private.make_client(plugin.name, _client_options)
    _pjrt.keep_forever(client)
    return client


def _client_options() -> dict[str, int | bool]:
    """Return the create options as JAX's configuration and the environment have them now."""
    return create_options(private.setting("xla_bridge", "num_cpu_devices", -1), os.environ.get("XLA_FLAGS", ""))
