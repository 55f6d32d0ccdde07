# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A stable sort of keys with their positions."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices):
    """Lower a sort along the rows, which are spread over the devices."""
    rows = NamedSharding(Mesh(np.array(devices), ("rows",)), PartitionSpec("rows"))
    keys = jax.ShapeDtypeStruct((64, 1024), jnp.float32, sharding=rows)

    @jax.jit
    def order(keys):
        places = jax.lax.broadcasted_iota(jnp.int32, keys.shape, 1)
        return jax.lax.sort((keys, places), num_keys=1, is_stable=True)

    return order.lower(keys)


PROGRAMS = {"sort": lower}
