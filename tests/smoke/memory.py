# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Memory does not grow over many steps: neither that of the process, nor what the device counts."""

import gc
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

WARM, STEPS = 200, 2000
SIDE = 128
LIMIT = 16 << 20  # bytes; one leaked array in ten steps would be 13 MB


def check() -> str:
    """Make, use, copy and drop arrays many times, and compare the memory in use before and after."""
    device = jax.devices()[0]

    @jax.jit
    def step(x, noise):
        return jnp.tanh(x @ noise), jnp.sum(noise)

    host = np.random.default_rng(9).standard_normal((SIDE, SIDE)).astype(np.float32) / SIDE
    x = jax.device_put(host, device)

    def run(count):
        value = x
        for _ in range(count):
            value, total = step(value, jax.device_put(host, device))
            np.asarray(total)
        value.block_until_ready()
        del value
        gc.collect()
        return resident(), device.memory_stats() or {}

    before, on_device_before = run(WARM)
    after, on_device_after = run(STEPS)
    live = len(jax.live_arrays())
    assert live < 10, f"{live} arrays are alive"
    assert after - before < LIMIT, f"the process grew by {after - before} bytes in {STEPS} steps"
    used = [stats.get("bytes_in_use") for stats in (on_device_before, on_device_after)]
    if None in used:
        return f"{STEPS} steps: process {(after - before) / 1e6:+.1f} MB; the device counts no memory"
    assert used[1] - used[0] < SIDE * SIDE * 4, f"the device's use grew from {used[0]} to {used[1]} bytes"
    return f"{STEPS} steps: process {(after - before) / 1e6:+.1f} MB, device {used[1] - used[0]:+d} bytes"


def resident() -> int:
    """Return the memory that this process keeps in use, in bytes."""
    if not Path("/proc/self/status").exists():
        raise unittest.SkipTest("this system does not say in /proc how much memory a process uses")
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("utf-8").splitlines())
    return int(fields["VmRSS"].split()[0]) * 1024
