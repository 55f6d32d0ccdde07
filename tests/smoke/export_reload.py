# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Export to StableHLO and to a compiled executable, and run both again, also in another process."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.experimental import serialize_executable

_RELOAD = """
import sys, numpy as np, jax
from jax import export
call = export.deserialize(bytearray(open(sys.argv[1], "rb").read())).call
np.save(sys.argv[2], np.asarray(jax.jit(call)(np.load(sys.argv[3]))))
"""


def check() -> str:
    """Serialise, reload, and compare with the original function."""

    def function(x):
        return jnp.cumsum(jnp.exp(-x * x), axis=-1) @ jnp.ones(x.shape[-1], x.dtype)

    x = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
    expected = np.cumsum(np.exp(-(x.astype(np.float64) ** 2)), axis=-1).sum(axis=-1)

    blob = export.export(jax.jit(function))(jax.ShapeDtypeStruct(x.shape, x.dtype)).serialize()
    np.testing.assert_allclose(export.deserialize(blob).call(x), expected, rtol=1e-5)

    (rows,) = export.symbolic_shape("rows")[:1]
    flexible = export.export(jax.jit(function))(jax.ShapeDtypeStruct((rows, 6), np.float32))
    np.testing.assert_allclose(export.deserialize(flexible.serialize()).call(x[:3]), expected[:3], rtol=1e-5)

    Path("exported").write_bytes(blob)
    np.save("input.npy", x)
    arguments = ["exported", "output.npy", "input.npy"]
    subprocess.run([sys.executable, "-I", "-c", _RELOAD, *arguments], check=True, timeout=120)
    np.testing.assert_allclose(np.load("output.npy"), expected, rtol=1e-5)

    compiled = jax.jit(function).lower(x).compile()
    payload = serialize_executable.serialize(compiled)
    loaded = serialize_executable.deserialize_and_load(*payload, execution_devices=jax.devices()[:1])  # default: all
    np.testing.assert_allclose(loaded(x), expected, rtol=1e-5)
    return f"StableHLO of {len(blob)} bytes, symbolic shape, other process, compiled executable"
