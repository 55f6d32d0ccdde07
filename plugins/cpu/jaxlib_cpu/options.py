# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The create options of the XLA:CPU plugin, from JAX's configuration and XLA's flags."""

from __future__ import annotations

import re

_DEVICE_COUNT = re.compile(r"(?:^|\s)--xla_force_host_platform_device_count=(\d+)(?=\s|$)")


def device_count(configured: int, xla_flags: str) -> int:
    """Return how many CPU devices the client shall have.

    The plugin's own default is four, and it does not look at XLA's flag. The order is that of JAX's built-in client.

    Args:
        configured: Value of `jax_num_cpu_devices`; negative if unset.
        xla_flags: Value of the environment variable `XLA_FLAGS`; the last of equal flags counts.

    >>> device_count(-1, ""), device_count(-1, "--xla_force_host_platform_device_count=8"), device_count(2, "")
    (1, 8, 2)
    """
    if configured >= 0:
        return configured
    forced = _DEVICE_COUNT.findall(xla_flags)
    return int(forced[-1]) if forced else 1


def create_options(configured_devices: int, xla_flags: str) -> dict[str, int | bool]:
    """Return the options to create the client with.

    The client is synchronous whatever `jax_cpu_enable_async_dispatch` says (it says how a client may behave, and is on
    by default). An asynchronous one runs the programs of a device one after the other, so a callback that runs JAX
    would wait for the very program that called it. JAX's built-in client makes an exception for programs with
    callbacks; the PJRT C API has no field to ask for that. Without such callbacks it can be turned on:
    `jax.config.update("jax_pjrt_client_create_options", {"asynchronous": True})`.
    """
    return {"cpu_device_count": device_count(configured_devices, xla_flags), "asynchronous": False}
