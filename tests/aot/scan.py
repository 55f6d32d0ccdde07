# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A recurrence over time, and its derivative through the loop."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices):
    """Lower value and derivative for states that are spread over the devices."""
    mesh = Mesh(np.array(devices), ("states",))
    state = jax.ShapeDtypeStruct((64, 128), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec("states")))
    weights = jax.ShapeDtypeStruct((128, 128), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec()))

    def energy(weights, state):
        def step(state, time):
            return jnp.tanh(state @ weights) * jnp.cos(time), jnp.sum(state**2)

        return jnp.sum(jax.lax.scan(step, state, jnp.arange(12.0))[1])

    return jax.jit(jax.value_and_grad(energy)).lower(weights, state)


PROGRAMS = {"scan": lower}
