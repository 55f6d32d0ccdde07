# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives against the analytic ones and against central differences in float64."""

import jax
import jax.numpy as jnp
import numpy as np


def check() -> str:
    """Differentiate once and twice, in both modes."""
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal(8), rng.standard_normal((8, 8))

    def loss(x, w):
        return jnp.sum(jnp.sin(w @ x) ** 2)

    with jax.enable_x64(True):
        z = w @ x
        analytic = w.T @ (2 * np.sin(z) * np.cos(z))
        np.testing.assert_allclose(jax.jit(jax.grad(loss))(x, w), analytic, rtol=1e-10)
        np.testing.assert_allclose(jax.jacfwd(loss)(x, w), analytic, rtol=1e-10)

        hessian = jax.jit(jax.hessian(loss))(x, w)
        np.testing.assert_allclose(hessian, w.T @ np.diag(2 * np.cos(2 * z)) @ w, rtol=1e-9, atol=1e-9)

        step = 1e-6
        direction = rng.standard_normal(8)
        numeric = (loss(x + step * direction, w) - loss(x - step * direction, w)) / (2 * step)
        _, forward = jax.jvp(lambda x: loss(x, w), (x,), (direction,))
        np.testing.assert_allclose(forward, numeric, rtol=1e-6)

    @jax.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1, 1),))
    np.testing.assert_array_equal(jax.grad(lambda x: 5 * clipped(x))(2.0), 1.0)
    remat = jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))))
    np.testing.assert_allclose(remat(0.7), np.cos(np.sin(0.7)) * np.cos(0.7), rtol=1e-6)
    return "grad, jacfwd, hessian, jvp, custom_vjp, checkpoint"
