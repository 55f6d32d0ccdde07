# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The derivative of a softmax classifier's loss: reductions, exponentials and transposed products."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices):
    """Lower loss and derivative with the examples spread over the devices."""
    mesh = Mesh(np.array(devices), ("batch",))
    rows = NamedSharding(mesh, PartitionSpec("batch"))
    weights = jax.ShapeDtypeStruct((128, 256), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec()))
    examples = jax.ShapeDtypeStruct((256, 128), jnp.float32, sharding=rows)
    labels = jax.ShapeDtypeStruct((256,), jnp.int32, sharding=rows)

    def loss(weights, examples, labels):
        chances = jax.nn.log_softmax(examples @ weights)
        return -jnp.mean(jnp.take_along_axis(chances, labels[:, None], axis=1))

    return jax.jit(jax.value_and_grad(loss)).lower(weights, examples, labels)


PROGRAMS = {"softmax_grad": lower}
