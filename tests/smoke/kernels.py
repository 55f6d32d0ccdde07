# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A convolution, its slope, and a kernel in Pallas, which vendors' libraries and compilers run, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def check() -> str:
    """Convolve images, differentiate by the filters, and run a kernel block by block."""
    rng = np.random.default_rng(15)
    images, filters = rng.standard_normal((4, 16, 16, 8)), rng.standard_normal((3, 3, 8, 32))
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))

    def convolve(filters):
        dimensions = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(single(images), filters, (1, 1), "SAME", dimension_numbers=dimensions)

    loss, slope = jax.jit(jax.value_and_grad(lambda filters: (convolve(filters) ** 2).mean()))(single(filters))
    expected = np.einsum("bhwcij,ijco->bhwo", windows, filters)
    np.testing.assert_allclose(jax.jit(convolve)(single(filters)), expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(loss, (expected**2).mean(), rtol=1e-3)
    by_hand = 2 * np.einsum("bhwcij,bhwo->ijco", windows, expected) / expected.size
    np.testing.assert_allclose(slope, by_hand, rtol=1e-3, atol=1e-3)

    # An older JAX takes Mosaic GPU by itself, which compiles for Hopper and newer GPUs only.
    if hasattr(jax.config, "jax_pallas_use_mosaic_gpu"):
        jax.config.update("jax_pallas_use_mosaic_gpu", val=False)
    x = rng.standard_normal((256, 512))
    block = pl.BlockSpec((64, 128), lambda i, j: (i, j))
    scale = pl.pallas_call(
        lambda x, out: out.__setitem__(..., jnp.exp(x[...]) * x[...] + 1),
        grid=(4, 4),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, np.float32),
        interpret=jax.default_backend() == "cpu",  # JAX compiles no such kernels for the host
    )
    np.testing.assert_allclose(jax.jit(scale)(single(x)), np.exp(x) * x + 1, rtol=1e-4, atol=1e-4)
    return "convolution, its slope, Pallas"


def single(array):
    """Return an array in single precision, on the device."""
    return jnp.asarray(array, jnp.float32)
