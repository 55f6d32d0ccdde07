# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Sorting, searching and selection against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np


def check() -> str:
    """Sort keys, stable pairs and NaNs; take ranks, top k and unique values."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((17, 33)).astype(np.float32)
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(jax.jit(jnp.sort, static_argnums=1)(x, axis), np.sort(x, axis))
        np.testing.assert_array_equal(jnp.argsort(x, axis), np.argsort(x, axis, kind="stable"))
    with_nan = np.array([3.0, np.nan, -np.inf, 0.0, np.inf], np.float32)
    np.testing.assert_array_equal(jnp.sort(with_nan), np.sort(with_nan))

    keys = rng.integers(0, 4, 200)
    order = jax.lax.sort((jnp.asarray(keys), jnp.arange(200)), num_keys=1, is_stable=True)[1]
    np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))

    values, indices = jax.lax.top_k(x[0], 5)
    np.testing.assert_array_equal(values, np.sort(x[0])[::-1][:5])
    np.testing.assert_array_equal(x[0][indices], values)
    np.testing.assert_array_equal(jnp.unique(keys), np.unique(keys))
    table = np.sort(x[0])
    np.testing.assert_array_equal(jnp.searchsorted(table, x[1]), np.searchsorted(table, x[1]))
    np.testing.assert_allclose(jnp.median(x, axis=1), np.median(x, axis=1), rtol=1e-6)
    return "sort, argsort, stable pairs, NaN, top_k, unique, searchsorted, median"
