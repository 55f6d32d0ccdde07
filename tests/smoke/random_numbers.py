# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers: published vectors, reproducibility, and moments of the distributions."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry2x32_p


def check() -> str:
    """Compare the generator with its known answers and each distribution with its moments."""
    # Known answers of Threefry-2x32 with 20 rounds (Random123, kat_vectors).
    for key, count, answer in (
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ):
        got = threefry2x32_p.bind(*(jnp.uint32(word) for word in (*key, *count)))
        assert tuple(int(word) for word in got) == answer

    key = jax.random.key(42)
    first, second = jax.random.normal(key, (3,)), jax.random.normal(key, (3,))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, jax.random.normal(jax.random.split(key)[0], (3,)))

    n = 200_000
    for draw, mean, variance in (
        (jax.random.uniform(key, (n,)), 0.5, 1 / 12),
        (jax.random.normal(key, (n,)), 0.0, 1.0),
        (jax.random.exponential(key, (n,)), 1.0, 1.0),
        (jax.random.gamma(key, 3.0, (n,)), 3.0, 3.0),
        (jax.random.bernoulli(key, 0.25, (n,)), 0.25, 0.1875),
    ):
        sample = np.asarray(draw, np.float64)
        assert abs(sample.mean() - mean) < 5 * np.sqrt(variance / n)
        np.testing.assert_allclose(sample.var(), variance, rtol=0.05)
    np.testing.assert_array_equal(np.sort(jax.random.permutation(key, 1000)), np.arange(1000))
    rbg = jax.random.bits(jax.random.key(7, impl="rbg"), (1000,))
    assert len(np.unique(rbg)) > 990
    return "threefry vectors, rbg, 5 distributions, permutation"
