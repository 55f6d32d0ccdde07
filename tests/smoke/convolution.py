# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A convolution of images, and its slope by the filters, which run in a vendor's library, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np


def check() -> str:
    """Convolve, and differentiate the mean of the squares."""
    rng = np.random.default_rng(15)
    images, filters = rng.standard_normal((4, 16, 16, 8)), rng.standard_normal((3, 3, 8, 32))
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))

    x, start = (jnp.asarray(array, jnp.float32) for array in (images, filters))

    def convolve(filters):
        return jax.lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    loss, slope = jax.jit(jax.value_and_grad(lambda filters: (convolve(filters) ** 2).mean()))(start)
    expected = np.einsum("bhwcij,ijco->bhwo", windows, filters)
    np.testing.assert_allclose(jax.jit(convolve)(start), expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(loss, (expected**2).mean(), rtol=1e-3)
    by_hand = 2 * np.einsum("bhwcij,bhwo->ijco", windows, expected) / expected.size
    np.testing.assert_allclose(slope, by_hand, rtol=1e-3, atol=1e-3)
    return "convolution and its slope"
