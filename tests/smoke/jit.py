# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled arithmetic, donation, static arguments and dtypes, against NumPy in float64."""

import jax
import jax.numpy as jnp
import numpy as np


def check() -> str:
    """Compile a few functions and compare their values; the first one of the process once only."""
    events: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: events.append(event))
    first, one = jax.jit(lambda x: x + 1), np.ones(3, np.float32)
    np.testing.assert_array_equal([first(one), first(one)], np.full((2, 3), 2))
    assert events.count("/jax/core/compile/backend_compile_duration") == 1
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((64, 96)), rng.standard_normal((96, 32))

    @jax.jit
    def layer(x, w):
        return jnp.tanh(x @ w).sum(axis=0)

    np.testing.assert_allclose(
        layer(a.astype(np.float32), b.astype(np.float32)), np.tanh(a @ b).sum(axis=0), rtol=2e-4, atol=2e-4
    )

    power = jax.jit(lambda x, n: x**n, static_argnums=1)
    np.testing.assert_array_equal(power(jnp.arange(5), 3), np.arange(5) ** 3)

    update = jax.jit(lambda x: x + 1, donate_argnums=0)
    donated = jnp.zeros(1000)
    np.testing.assert_array_equal(update(donated), np.ones(1000))
    assert donated.is_deleted()

    dtypes = ["bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "bfloat16", "float32", "complex64"]
    for dtype in dtypes:
        x = jnp.asarray([0, 1, 1, 0], dtype)
        assert jax.jit(lambda x: jnp.concatenate([x, x]))(x).dtype == dtype
    with jax.enable_x64(True):
        np.testing.assert_allclose(layer(a, b), np.tanh(a @ b).sum(axis=0), rtol=1e-12)

    # An empty array and a scalar take other paths through buffer creation than a large array.
    assert jax.jit(lambda x: x * 2)(jnp.zeros((0, 3))).shape == (0, 3)
    assert float(jax.jit(lambda x: x * 2)(1.5)) == 3.0
    text = jax.jit(layer).lower(a, b).compile().as_text()
    assert text is not None
    assert "HloModule" in text
    return f"{len(dtypes)} dtypes, donation, float64"
