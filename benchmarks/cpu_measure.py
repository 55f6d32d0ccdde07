# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU client of this process, in an environment of `cpu_client.py`; prints JSON."""

import functools
import json
import resource
import sys
import time
import timeit
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

ROUNDS = 10  # of one measurement; the fastest counts


def measure(client: str) -> dict[str, float]:
    """Measure the client of this process: its start, microseconds for each program, and megabytes at the end."""
    used = "jaxlib-cpu" if getattr(jax.devices("cpu")[0].client, "pjrt_c_api_minor_version", 0) else "built-in"
    if used != client:
        raise SystemExit(f"error: the {client} client was to be measured, JAX uses the {used} one")
    add = jax.jit(lambda left, right: left + right)
    number = add(jnp.float32(0), jnp.float32(1)).block_until_ready()
    values = {"start and first result, processor ms": time.process_time() * 1e3}
    numbers, matrix = jnp.zeros(1000).block_until_ready(), jnp.ones((512, 512))
    programs: dict[str, Callable[[], object]] = {
        "addition of two numbers, µs": lambda: add(number, number).block_until_ready(),
        "chain of 100 additions, µs": lambda: functools.reduce(add, [number] * 101).block_until_ready(),
        "array of 1000 numbers as NumPy, µs": lambda: np.asarray(numbers),
        "product of 512 x 512 matrices, µs": lambda: jnp.matmul(matrix, matrix).block_until_ready(),
    }
    for width in (32, 1024):
        programs[f"training step, {width} hidden units, µs"] = prepare_training(width)
    values |= {name: best(program) for name, program in programs.items()}
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
    """Return the microseconds of a call: the fastest mean of several rounds of 0.2 s, after a warm-up."""
    timer = timeit.Timer(call)
    calls, _ = timer.autorange()
    return min(timer.repeat(ROUNDS, calls)) / calls * 1e6


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
