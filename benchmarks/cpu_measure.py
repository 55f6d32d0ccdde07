# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU client of this process, in an environment of `cpu_client.py`; prints JSON."""

import json
import resource
import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp

SECONDS = 0.2  # for one measurement; the fastest of several counts
ROUNDS = 10


def measure(client: str) -> dict[str, float]:
    """Measure the client of this process: microseconds for each program, and megabytes at the end."""
    used = "jaxlib-cpu" if jax.devices("cpu")[0].client.is_c_api else "built-in"
    if used != client:
        raise SystemExit(f"error: the {client} client was to be measured, JAX uses the {used} one")
    add = jax.jit(lambda left, right: left + right)
    number = jnp.float32(1)
    values = {"jitted addition of two numbers, µs": best(lambda: add(number, number).block_until_ready())}
    for width in (32, 1024):
        values[f"training step, {width} hidden units, µs"] = best(prepare_training(width))
    values["peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return values


def prepare_training(width: int) -> Callable[[], object]:
    """Return a function that makes one step of gradient descent on a small network, and waits for its end."""
    keys = jax.random.split(jax.random.key(8), 3)
    inputs = jax.random.normal(keys[0], (64, 64))
    state = [jax.random.normal(keys[1], (64, width)) / 8, jax.random.normal(keys[2], (width, 1)) / width**0.5]

    def loss(weights: list[jax.Array]) -> jax.Array:
        return jnp.mean((jnp.tanh(inputs @ weights[0]) @ weights[1] - 1) ** 2)

    @jax.jit
    def step(weights: list[jax.Array]) -> list[jax.Array]:
        return [weight - 0.1 * slope for weight, slope in zip(weights, jax.grad(loss)(weights), strict=True)]

    return lambda: jax.block_until_ready(step(state))


def best(call: Callable[[], object]) -> float:
    """Return the microseconds of a call: the fastest mean of several rounds, after a warm-up."""
    start = time.perf_counter()
    calls = 0
    while time.perf_counter() - start < SECONDS:
        call()
        calls += 1
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        rounds.append((time.perf_counter() - start) / calls)
    return min(rounds) * 1e6


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
