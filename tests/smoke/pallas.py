# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel written in Pallas, block by block, against NumPy."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

# What JAX says of GPUs that are too old for its Triton or not in its table, and of platforms that it has no Pallas for.
UNSUPPORTED = ("Triton support is only enabled for Ampere", "No supported GPU devices found", "not found for platform")


def check() -> str:
    """Run the kernel where JAX has one for the device; on the host it interprets it."""
    # An older JAX takes Mosaic GPU by itself, which compiles for Hopper and newer GPUs only.
    if hasattr(jax.config, "jax_pallas_use_mosaic_gpu"):
        jax.config.update("jax_pallas_use_mosaic_gpu", val=False)
    x = np.random.default_rng(15).standard_normal((256, 512))
    block = pl.BlockSpec((64, 128), lambda i, j: (i, j))
    scale = pl.pallas_call(
        lambda x, out: out.__setitem__(..., jnp.exp(x[...]) * x[...] + 1),
        grid=(4, 4),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, np.float32),
        interpret=jax.default_backend() == "cpu",
    )
    try:
        found = jax.block_until_ready(jax.jit(scale)(jnp.asarray(x, jnp.float32)))
    except Exception as error:
        if any(text in str(error) for text in UNSUPPORTED):
            raise unittest.SkipTest(str(error)) from error
        raise
    np.testing.assert_allclose(found, np.exp(x) * x + 1, rtol=1e-4, atol=1e-4)
    return "Pallas" + (", interpreted" if jax.default_backend() == "cpu" else "")
