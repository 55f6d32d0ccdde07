# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Vectorisation against an explicit loop."""

import jax
import jax.numpy as jnp
import numpy as np


def check() -> str:
    """Map over one and two axes, and over a function with control flow and a solve."""
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((7, 5, 5)).astype(np.float32), rng.standard_normal((7, 5)).astype(np.float32)

    np.testing.assert_allclose(
        jax.jit(jax.vmap(jnp.dot))(a, b),
        np.stack([x.astype(np.float64) @ y for x, y in zip(a, b, strict=True)]),
        rtol=1e-4,
        atol=1e-5,
    )
    outer = jax.vmap(jax.vmap(lambda x, y: x * y, (None, 0)), (0, None))
    np.testing.assert_allclose(outer(b[0], b[1]), np.outer(b[0], b[1]), rtol=1e-6)

    def collatz(n):
        return jax.lax.while_loop(
            lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0)
        )[1]

    np.testing.assert_array_equal(jax.jit(jax.vmap(collatz))(jnp.arange(1, 8)), [0, 1, 7, 2, 5, 8, 16])

    spd = a @ a.transpose(0, 2, 1) + 5 * np.eye(5, dtype=np.float32)
    solved = jax.vmap(jnp.linalg.solve)(spd, b[..., None])[..., 0]
    expected = np.linalg.solve(spd.astype(np.float64), b[..., None])[..., 0]
    np.testing.assert_allclose(solved, expected, rtol=1e-3, atol=1e-4)
    return "one and two axes, while_loop, solve"
