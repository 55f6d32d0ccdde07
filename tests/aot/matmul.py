# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products with an epilogue, in each precision that accelerators have units for."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices, dtype):
    """Lower a product whose rows are spread over the devices; the epilogue is code even where a library multiplies."""
    mesh = Mesh(np.array(devices), ("rows",))
    a = jax.ShapeDtypeStruct((512, 512), dtype, sharding=NamedSharding(mesh, PartitionSpec("rows")))
    b = jax.ShapeDtypeStruct((512, 512), dtype, sharding=NamedSharding(mesh, PartitionSpec()))

    @jax.jit
    def layer(a, b):
        return jnp.tanh(jnp.matmul(a, b, preferred_element_type=jnp.float32)).astype(jnp.bfloat16)

    return layer.lower(a, b)


PROGRAMS = {
    "matmul_f32": functools.partial(lower, dtype=jnp.float32),
    "matmul_bf16": functools.partial(lower, dtype=jnp.bfloat16),
    "matmul_fp8": functools.partial(lower, dtype=jnp.float8_e4m3fn),
}
