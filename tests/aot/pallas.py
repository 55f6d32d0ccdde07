# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel written in Pallas, which JAX lowers itself for each kind of accelerator."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices):
    """Lower the kernel for blocks of an array whose rows are spread over the devices."""
    # An older JAX takes Mosaic GPU by itself, which compiles for Hopper and newer GPUs only.
    if hasattr(jax.config, "jax_pallas_use_mosaic_gpu"):
        jax.config.update("jax_pallas_use_mosaic_gpu", val=False)
    mesh = Mesh(np.array(devices), ("rows",))
    spec = PartitionSpec("rows")
    x = jax.ShapeDtypeStruct((512, 512), jnp.float32, sharding=NamedSharding(mesh, spec))

    def scale(x_ref, y_ref, out_ref):
        out_ref[...] = jnp.exp(x_ref[...]) * y_ref[...] + 1

    @jax.jit
    @jax.shard_map(mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    def fused(x):
        block = pl.BlockSpec((64, 128), lambda i, j: (i, j))
        grid = (x.shape[0] // 64, x.shape[1] // 128)
        kernel = pl.pallas_call(
            scale, grid=grid, in_specs=[block, block], out_specs=block, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype)
        )
        return kernel(x, x)

    return fused.lower(x)


PROGRAMS = {"pallas": lower}
