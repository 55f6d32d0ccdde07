# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A convolution of images with a bias, an activation and a mean over space."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices):
    """Lower one layer with the images of a batch spread over the devices."""
    mesh = Mesh(np.array(devices), ("batch",))
    images = jax.ShapeDtypeStruct((16, 32, 32, 16), jnp.bfloat16, sharding=NamedSharding(mesh, PartitionSpec("batch")))
    everywhere = NamedSharding(mesh, PartitionSpec())
    filters = jax.ShapeDtypeStruct((3, 3, 16, 32), jnp.bfloat16, sharding=everywhere)
    bias = jax.ShapeDtypeStruct((32,), jnp.bfloat16, sharding=everywhere)

    @jax.jit
    def layer(images, filters, bias):
        found = jax.lax.conv_general_dilated(
            images, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return jax.nn.relu(found + bias).mean(axis=(1, 2))

    return layer.lower(images, filters, bias)


PROGRAMS = {"conv": lower}
