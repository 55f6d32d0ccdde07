# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Structured control flow against the same loops in Python."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def check() -> str:
    """Run each construct compiled, nested and differentiated."""
    np.testing.assert_array_equal(
        jax.jit(lambda n: lax.fori_loop(0, n, lambda i, s: s + i * i, 0))(100), sum(i * i for i in range(100))
    )
    fibonacci = jax.jit(lambda: lax.scan(lambda c, _: ((c[1], c[0] + c[1]), c[0]), (0, 1), length=20)[1])()
    expected = [0, 1]
    while len(expected) < 20:
        expected.append(expected[-1] + expected[-2])
    np.testing.assert_array_equal(fibonacci, expected)

    branch = jax.jit(lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 0], x))
    np.testing.assert_allclose([branch(i, 0.3) for i in range(3)], [np.sin(0.3), np.cos(0.3), 0.0], rtol=1e-6)
    choose = jax.jit(lambda p, x: lax.cond(p, lambda x: x + 1, lambda x: x - 1, x))
    assert (int(choose(True, 5)), int(choose(False, 5))) == (6, 4)

    root = jax.jit(lambda a: lax.while_loop(lambda s: jnp.abs(s * s - a) > 1e-5, lambda s: (s + a / s) / 2, a))
    np.testing.assert_allclose(root(2.0), np.sqrt(2.0), rtol=1e-5)

    def accumulate(x):
        return lax.scan(lambda carry, step: (jnp.sin(carry) * step, carry), x, jnp.arange(1.0, 6.0))[0]

    def reference(x, slope):
        for step in range(1, 6):
            x, slope = np.sin(x) * step, np.cos(x) * step * slope
        return x, slope

    np.testing.assert_allclose(jax.jit(jax.value_and_grad(accumulate))(0.4), reference(0.4, 1.0), rtol=1e-4)
    np.testing.assert_allclose(
        lax.associative_scan(jnp.multiply, jnp.arange(1.0, 9.0)), np.cumprod(np.arange(1.0, 9.0)), rtol=1e-6
    )
    return "fori_loop, scan, switch, cond, while_loop, associative_scan, grad of scan"
