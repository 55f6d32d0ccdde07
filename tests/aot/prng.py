# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers, which JAX draws with a kernel of its own on some accelerators."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices):
    """Lower normal numbers from a key, half of them dropped."""
    everywhere = NamedSharding(Mesh(np.array(devices), ("i",)), PartitionSpec())
    seed = jax.ShapeDtypeStruct((), jnp.uint32, sharding=everywhere)

    @jax.jit
    def draw(seed):
        first, second = jax.random.split(jax.random.key(seed))
        return jnp.where(jax.random.bernoulli(first, 0.5, (256, 128)), jax.random.normal(second, (256, 128)), 0.0)

    return draw.lower(seed)


PROGRAMS = {"prng": lower}
