# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Training a small network for many steps: every loss on the way against the same steps in NumPy and float64."""

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 200
RATE, MOMENTUM = 0.1, 0.9


def check() -> str:
    """Train a regression with momentum, compiled and with donated state, and compare the course of the loss."""
    rng = np.random.default_rng(8)
    inputs = rng.standard_normal((64, 8))
    wanted = np.sin(inputs @ rng.standard_normal((8, 1)))
    weights = [rng.standard_normal((8, 32)) / np.sqrt(8), rng.standard_normal((32, 1)) / np.sqrt(32)]
    expected = train_in_numpy(inputs, wanted, weights)

    def loss(weights, inputs, wanted):
        first, second = weights
        return jnp.mean((jnp.tanh(inputs @ first) @ second - wanted) ** 2)

    @jax.jit(donate_argnums=0)
    def step(state, inputs, wanted):
        weights, speeds = state
        value, slopes = jax.value_and_grad(loss)(weights, inputs, wanted)
        speeds = [MOMENTUM * speed - RATE * slope for speed, slope in zip(speeds, slopes, strict=True)]
        return ([weight + speed for weight, speed in zip(weights, speeds, strict=True)], speeds), value

    state = ([jnp.asarray(w, jnp.float32) for w in weights], [jnp.zeros(w.shape, jnp.float32) for w in weights])
    inputs, wanted = jnp.asarray(inputs, jnp.float32), jnp.asarray(wanted, jnp.float32)
    course = []
    for _ in range(STEPS):
        state, value = step(state, inputs, wanted)
        course.append(value)
    found = np.asarray(jax.device_get(course), np.float64)
    np.testing.assert_allclose(found, expected, rtol=5e-3)
    assert found[-1] < found[0] / 20
    return f"{STEPS} steps, loss {found[0]:.4f} to {found[-1]:.6f}, expected {expected[-1]:.6f}"


def train_in_numpy(inputs, wanted, weights):
    """Return the loss before each step, with derivatives written out by hand."""
    (first, second), speeds, course = weights, [0.0, 0.0], []
    for _ in range(STEPS):
        hidden = np.tanh(inputs @ first)
        error = hidden @ second - wanted
        course.append(np.mean(error**2))
        slope = 2 * error / error.size
        slopes = [inputs.T @ (slope @ second.T * (1 - hidden**2)), hidden.T @ slope]
        speeds = [MOMENTUM * speed - RATE * part for speed, part in zip(speeds, slopes, strict=True)]
        first, second = first + speeds[0], second + speeds[1]
    return np.array(course)
