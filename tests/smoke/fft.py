# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms against NumPy in float64."""

import jax
import jax.numpy as jnp
import numpy as np


def check() -> str:
    """Transform forth and back, real and complex, in one to three dimensions, for even, odd and prime lengths."""
    rng = np.random.default_rng(4)
    with jax.enable_x64(True):
        for shape in ((16,), (15,), (97,), (8, 9), (4, 6, 5)):
            x = rng.standard_normal(shape)
            z = x + 1j * rng.standard_normal(shape)
            np.testing.assert_allclose(jax.jit(jnp.fft.fftn)(z), np.fft.fftn(z), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(jnp.fft.ifftn(jnp.fft.fftn(z)), z, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(jnp.fft.rfftn(x), np.fft.rfftn(x), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(jnp.fft.irfftn(jnp.fft.rfftn(x), shape), x, rtol=1e-9, atol=1e-9)
    single = rng.standard_normal(256).astype(np.float32)
    np.testing.assert_allclose(jnp.fft.rfft(single), np.fft.rfft(single.astype(np.float64)), rtol=1e-3, atol=1e-3)
    return "fftn, ifftn, rfftn, irfftn"
