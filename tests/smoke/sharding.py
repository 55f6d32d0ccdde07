# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""One program over four devices: layout of arrays, collectives, and values against NumPy."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

COUNT = 4

# Concerns the CPU alone, whose devices are virtual; accelerators have as many as they have.
jax.config.update("jax_num_cpu_devices", COUNT)


def check() -> str:
    """Multiply sharded matrices, and sum, shift and gather across devices."""
    devices = jax.devices()
    if len(devices) < COUNT:
        raise unittest.SkipTest(f"needs {COUNT} devices, this machine has {len(devices)}")
    assert len({device.id for device in devices}) == len(devices)
    mesh = jax.make_mesh((2, 2), ("x", "y"), devices=devices[:COUNT])
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((8, 16)).astype(np.float32), rng.standard_normal((16, 4)).astype(np.float32)

    left = jax.device_put(a, NamedSharding(mesh, PartitionSpec("x", "y")))
    right = jax.device_put(b, NamedSharding(mesh, PartitionSpec("y", None)))
    assert {shard.device for shard in left.addressable_shards} == set(devices[:COUNT])
    assert {shard.data.shape for shard in left.addressable_shards} == {(4, 8)}
    rows = NamedSharding(mesh, PartitionSpec("x", None))
    product = jax.jit(lambda a, b: jnp.matmul(a, b, out_sharding=rows))(left, right)
    np.testing.assert_allclose(product, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(jax.jit(jnp.linalg.norm)(left), np.linalg.norm(a.astype(np.float64)), rtol=1e-5)

    line = jax.make_mesh((COUNT,), ("i",), devices=devices[:COUNT])
    spec = PartitionSpec("i")

    def mapped(function, out_specs=spec):
        return jax.jit(jax.shard_map(function, mesh=line, in_specs=spec, out_specs=out_specs))

    host = np.arange(16, dtype=np.float32)
    x = jax.device_put(host, NamedSharding(line, spec))
    np.testing.assert_array_equal(mapped(lambda v: jax.lax.psum(v, "i"), PartitionSpec())(x), host.reshape(4, 4).sum(0))
    shift = [(i, (i + 1) % COUNT) for i in range(COUNT)]
    np.testing.assert_array_equal(mapped(lambda v: jax.lax.ppermute(v, "i", shift))(x), np.roll(host, 4))
    np.testing.assert_array_equal(
        mapped(lambda v: jax.lax.all_to_all(v.reshape(4, 1), "i", 0, 0).reshape(4))(x), host.reshape(4, 4).T.reshape(-1)
    )
    owners = mapped(lambda v: jax.lax.axis_index("i") + 0 * v.astype(int))(x)
    np.testing.assert_array_equal(owners, np.repeat(range(4), 4))
    gathered = mapped(lambda v: jax.lax.all_gather(v, "i", tiled=True).sum(keepdims=True))(x)
    np.testing.assert_array_equal(gathered, np.full(4, host.sum()))
    return f"{COUNT} of {len(devices)} devices, psum, ppermute, all_to_all, all_gather"
