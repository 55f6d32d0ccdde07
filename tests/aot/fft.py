# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A filter in the frequency domain: transform, multiply, transform back."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def lower(devices):
    """Lower the filter for signals that are spread over the devices."""
    mesh = Mesh(np.array(devices), ("signals",))
    signals = jax.ShapeDtypeStruct((32, 1024), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec("signals")))

    @jax.jit
    @jax.shard_map(mesh=mesh, in_specs=PartitionSpec("signals"), out_specs=PartitionSpec("signals"))
    def smooth(signals):
        spectrum = jnp.fft.rfft(signals)
        return jnp.fft.irfft(spectrum * jnp.exp(-jnp.arange(513.0) / 64), 1024)

    return smooth.lower(signals)


PROGRAMS = {"fft": lower}
