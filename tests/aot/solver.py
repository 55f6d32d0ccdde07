# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Factorisations, which JAX hands to the solvers that come with the accelerator's kernels."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices):
    """Lower a Cholesky solve and an eigenvalue problem for matrices that are spread over the devices."""
    mesh = Mesh(np.array(devices), ("batch",))
    spec = PartitionSpec("batch")
    matrices = jax.ShapeDtypeStruct((8, 32, 32), jnp.float32, sharding=NamedSharding(mesh, spec))

    @jax.jit
    @jax.shard_map(mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    def solve(matrices):
        factors = jnp.linalg.cholesky(matrices)
        values, vectors = jnp.linalg.eigh(matrices)
        return jnp.tanh(factors) @ (vectors * values[..., None, :])

    return solve.lower(matrices)


PROGRAMS = {"solver": lower}
