# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Communication between devices: sum, gather, exchange and shift."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

# On one device there is nothing to communicate.
MINIMUM_DEVICES = 2


def lower(devices):
    """Lower each collective once, over all devices."""
    count = len(devices)
    mesh = Mesh(np.array(devices), ("i",))
    spec = PartitionSpec("i")
    x = jax.ShapeDtypeStruct((count * count, 256), jnp.float32, sharding=NamedSharding(mesh, spec))
    ring = [(i, (i + 1) % count) for i in range(count)]

    @jax.jit
    @jax.shard_map(mesh=mesh, in_specs=spec, out_specs=spec)
    def communicate(x):
        total = jax.lax.psum(jnp.sin(x), "i")
        gathered = jax.lax.all_gather(x, "i", tiled=True).reshape(count, *x.shape).mean(axis=0)
        exchanged = jax.lax.all_to_all(x, "i", 0, 0, tiled=True)
        return total + gathered + exchanged + jax.lax.ppermute(x, "i", ring)

    return communicate.lower(x)


PROGRAMS = {"collective": lower}
