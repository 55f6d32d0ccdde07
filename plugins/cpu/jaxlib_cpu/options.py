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


def create_options(*, configured_devices: int, asynchronous: bool, xla_flags: str) -> dict[str, int | bool]:
    """Return the options to create the client with.

    Args:
        configured_devices: Value of `jax_num_cpu_devices`.
        asynchronous: Whether a computation may run after its call has returned.
        xla_flags: Value of the environment variable `XLA_FLAGS`.
    """
    return {"cpu_device_count": device_count(configured_devices, xla_flags), "asynchronous": asynchronous}
